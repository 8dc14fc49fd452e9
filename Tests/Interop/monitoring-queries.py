"""Puts all queries of a dashboard and all alerts to a Prometheus that has scraped for half a minute.

usage: monitoring-queries.py URL DASHBOARD

A query of the dashboard must have brought a number at some time; of an alert it is enough that Prometheus can evaluate it.
Prints each that does not, or how many there are.
"""

import json
import math
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# What Grafana puts in the place of its variables, for scrapes of a second.
VARIABLES = {"$node": ".*", "$app": ".*", "$__rate_interval": "10s", "$__range": "60s", "$__interval": "10s"}


def get(url: str, path: str, **parameters: str) -> dict:
    query = urllib.parse.urlencode(parameters)
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{query}", timeout=20) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def expressions(dashboard: dict) -> list[tuple[str, str]]:
    panels = [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    return panels + [(note["name"], note["expr"]) for note in dashboard["annotations"]["list"]]


def fault_of(url: str, expression: str, needs_data: bool) -> str | None:
    # The longest first: one name begins another.
    for name in sorted(VARIABLES, key=len, reverse=True):
        expression = expression.replace(name, VARIABLES[name])
    now = time.time()
    answer = get(url, "query_range", query=expression, start=str(now - 90), end=str(now), step="1")
    if answer["status"] != "success":
        return f"{answer['error']}: {expression}"
    numbers = [float(value) for series in answer["data"]["result"] for _, value in series["values"]]
    return f"no data: {expression}" if needs_data and not any(map(math.isfinite, numbers)) else None


def main() -> None:
    url, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    queries = expressions(dashboard)
    # A note is of something that happens seldom: a start.
    notes = {note["name"] for note in dashboard["annotations"]["list"]}
    faults = [(title, fault_of(url, expression, title not in notes)) for title, expression in queries]
    alerts = [rule for group in get(url, "rules")["data"]["groups"] for rule in group["rules"]]
    faults += [(rule["name"], rule.get("lastError") or rule["health"]) for rule in alerts if rule["health"] != "ok"]
    for title, fault in faults:
        if fault:
            print(f"{title}: {fault}")
    if not any(fault for _, fault in faults):
        print(f"all {len(queries)} queries and {len(alerts)} alerts")


main()
