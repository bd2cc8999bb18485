"""Stream tables in schedulers of others; each module is imported where its framework is installed.

airflow   an operator that refreshes, and a sensor that waits for freshness or a position
dagster   assets that refresh, with what each refresh did, and checks that verify
"""
