"""The web pages and the JSON API of an open warehouse: FastAPI, Jinja2, SVG drawn on the server.

    serving.py      open a port and run until told to stop
    app.py          the application: routes, templates, what they share
    guard.py        what every request passes first: host, size, headers
    access.py       who may change something: token, session, origin
    faults.py       errors as JSON or as a page, never as a traceback
    facts.py        what the API says, kept until something happens
    pulse.py        telling open pages that something happened
    lag_samples.py  lags over the last hour
    jobs.py         refreshes and proofs that were started here
    conditions.py   one word for how each table is
    json_facts.py, json_actions.py      the JSON API
    pages/          one file per page
    drawing/        charts and the graph as SVG

Only this package imports FastAPI, uvicorn, Jinja2 and Pygments, and only when pages are served.
"""
