"""Puts all queries of a dashboard and all alerts to a Prometheus that has scraped for half a minute.

usage: monitoring-queries.py URL DASHBOARD

A query of the dashboard, unless it is of what happens seldom, must have brought numbers at some time, and such as its
panel can mean: nothing negative, and no share above 1. One that a panel asks of this moment only is asked so. Of an alert
it is enough that Prometheus can evaluate it.
Prints each that does not, or how many there are.
"""

import json
import math
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import NamedTuple

# Panels of what happens seldom, which may have no data.
SELDOM = {"Waiting for the quota"}

# What Grafana puts in the place of its variables, for scrapes of a second.
START = time.time() - 90
VARIABLES = {
    "$node": ".*", "$app": ".*", "$__rate_interval": "10s", "$__range": "60s", "$__interval": "10s",
    "$__from": str(int(START * 1000)), "$__to": str(int((START + 180) * 1000)),
}


class Query(NamedTuple):
    """A query of a panel, or of a note."""

    title: str
    expression: str
    unit: str = ""
    is_instant: bool = False
    may_be_empty: bool = False


def get(url: str, path: str, **parameters: str) -> dict:
    query = urllib.parse.urlencode(parameters)
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{query}", timeout=20) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def queries_of(dashboard: dict) -> list[Query]:
    queries = [
        Query(
            panel["title"], target["expr"], panel["fieldConfig"]["defaults"].get("unit", ""), target.get("instant", False),
            may_be_empty=panel["title"] in SELDOM)
        for panel in dashboard["panels"] for target in panel.get("targets", [])
    ]
    return queries + [Query(note["name"], note["expr"], may_be_empty=True) for note in dashboard["annotations"]["list"]]


def fault_of(url: str, query: Query) -> str | None:
    expression = query.expression
    # The longest first: one name begins another.
    for name in sorted(VARIABLES, key=len, reverse=True):
        expression = expression.replace(name, VARIABLES[name])
    if query.is_instant:
        answer = get(url, "query", query=expression)
    else:
        answer = get(url, "query_range", query=expression, start=str(START), end=str(time.time()), step="1")
    if answer["status"] != "success":
        return f"{answer['error']}: {expression}"
    pairs = [pair for series in answer["data"]["result"] for pair in series.get("values") or [series["value"]]]
    numbers = [number for number in (float(value) for _, value in pairs) if math.isfinite(number)]
    if not numbers and not query.may_be_empty:
        return f"no data: {expression}"
    highest = 1 if query.unit == "percentunit" else math.inf
    odd = [number for number in numbers if not 0 <= number <= highest]
    return f"it cannot be {odd[0]:g}: {expression}" if odd else None


def main() -> None:
    url, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        queries = queries_of(json.load(file))
    faults = [(query.title, fault_of(url, query)) for query in queries]
    alerts = [rule for group in get(url, "rules")["data"]["groups"] for rule in group["rules"]]
    faults += [(rule["name"], rule.get("lastError") or rule["health"]) for rule in alerts if rule["health"] != "ok"]
    for title, fault in faults:
        if fault:
            print(f"{title}: {fault}")
    if not any(fault for _, fault in faults):
        print(f"all {len(queries)} queries and {len(alerts)} alerts")


main()
