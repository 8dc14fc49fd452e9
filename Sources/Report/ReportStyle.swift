/// The style of a report, for light and dark mode, screen and print. No external resources are loaded.
enum ReportStyle {
    /// The style sheet.
    static let sheet = """
        :root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --ink: #14181f; --soft: #566070; \
        --rule: #dfe3e9; --grid: #e8ebf0; --accepted: #2a78d6; --rejected: #d8433f; --expired: #e0a100; \
        --unsent: #5b46c4; --unknown: #7d8794; --plain: #2a78d6; --alarm: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --page: #101318; --card: #181c23; --ink: #eceff4; \
        --soft: #9aa5b4; --rule: #2b313b; --grid: #262c35; --accepted: #4a93e8; --rejected: #ef6b66; \
        --expired: #d29a1c; --unsent: #9a8bf0; --unknown: #8f99a7; --plain: #4a93e8; --alarm: #ff8a80; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); \
        font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 32px; } footer { padding-bottom: 40px; }
        h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 12px; }
        h3 { font-size: 15px; margin: 0 0 8px; } p { margin: 0 0 8px; } .soft { color: var(--soft); }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 12px; \
        margin: 20px 0 0; padding: 0; }
        .tiles div, .card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; \
        padding: 14px 16px; }
        .tiles dt { color: var(--soft); font-size: 13px; } .tiles dd { margin: 2px 0 0; font-size: clamp(15px, 17cqi, 22px); overflow-wrap: anywhere; \
        font-variant-numeric: tabular-nums; }
        .tiles div { display: flex; flex-direction: column; justify-content: space-between; container-type: inline-size; }
        .tiles .alarm dd { color: var(--alarm); }
        .gap { margin: 16px 0 0; padding-left: 12px; border-left: 3px solid var(--expired); }
        .two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 16px; }
        .card { margin: 0 0 16px; min-width: 0; container-type: inline-size; } .two .card { margin: 0; } \
        figure.card { overflow: hidden; }
        svg { display: block; width: 100%; height: auto; overflow: visible; } svg text { font-size: 17px; fill: var(--soft); \
        font-variant-numeric: tabular-nums; } svg text.name { fill: var(--ink); }
        @container (max-width: 400px) { svg text { font-size: 25px; } }
        @container (min-width: 560px) { svg text { font-size: 14px; } }
        @container (min-width: 700px) { svg text { font-size: 12px; } }
        @container (min-width: 860px) { svg text { font-size: 9.5px; } }
        figure p, .wide + p { margin: 8px 0 0; font-size: 14px; }
        .grid { stroke: var(--grid); } .base { stroke: var(--soft); } .hit { fill: transparent; }
        g:hover > .hit { fill: var(--ink); fill-opacity: .08; }
        .line { fill: none; stroke: var(--plain); stroke-width: 2; stroke-linejoin: round; }
        .area { fill: var(--plain); fill-opacity: .14; }
        .accepted { fill: var(--accepted); background: var(--accepted); } \
        .rejected { fill: var(--rejected); background: var(--rejected); } \
        .expired { fill: var(--expired); background: var(--expired); } \
        .unsent { fill: var(--unsent); background: var(--unsent); } \
        .unknown { fill: var(--unknown); background: var(--unknown); } .plain { fill: var(--plain); \
        background: var(--plain); }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; list-style: none; \
        color: var(--soft); font-size: 13px; }
        .legend span { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
        .wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--rule); \
        vertical-align: top; }
        th { color: var(--soft); font-weight: 600; } .t { overflow-wrap: anywhere; min-width: 6em; }
        .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .d { white-space: nowrap; font-variant-numeric: tabular-nums; }
        td:last-child, th:last-child { padding-right: 0; }
        @media (max-width: 560px) { main, header, footer { padding-left: 16px; padding-right: 16px; } \
        .stack thead { display: none; } .stack tr { display: grid; grid-template-columns: 1fr 1fr; gap: 2px 12px; \
        padding: 8px 0; border-bottom: 1px solid var(--rule); } .stack td { border: 0; padding: 0; min-width: 0; \
        text-align: left; white-space: normal; } .stack td.d { grid-column: 1 / -1; } .stack td::before { content: attr(data-label) " "; color: var(--soft); } \
        .stack td:empty { display: none; } }
        details { margin-top: 10px; font-size: 14px; } summary { color: var(--soft); cursor: pointer; }
        @media print { .card, .tiles div { break-inside: avoid; } details { display: none; } }
        """
}
