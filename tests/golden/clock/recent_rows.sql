-- title: a temporal filter: rows enter and leave because the clock moved
-- sources: events(id int, at timestamp) key id
SELECT id, at FROM events WHERE at > current_timestamp() - INTERVAL 1 HOUR
---- plan
Project id, at  [linear]
  Filter at > scalar - INTERVAL '1' HOUR  [linear]
    InnerJoin every pair  [multilinear]
      Scan events (id, at)  [linear]
      Project now as scalar  [linear]
        Clock as now  [linear]
---- delta plan
Net
  Sum
    Project id, at  [linear]
      Filter at > scalar - INTERVAL '1' HOUR  [linear]
        InnerJoin every pair  [multilinear]
          Scan changes.events (id, at)  [linear]
          Project now as scalar  [linear]
            Clock as now  [linear]
    Project id, at  [linear]
      Weighed at > scalar - INTERVAL '1' HOUR
        Scan before.events (id, at)  [linear]
        Net
          Project now as scalar  [linear]
            Sum
              Clock as now  [linear]
              Negate
                Clock as now  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `scalar`,
    `__st_weight`
  FROM (
    SELECT
      `scalar`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `now` AS `scalar`,
        `__st_weight`
      FROM (
        SELECT
          `now`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `now`
          FROM `after`.`__st_clock`
        ) AS `t`
        UNION ALL
        SELECT
          `now`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `now`
          FROM `before`.`__st_clock`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `scalar`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `at`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `at`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `at`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `at`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `at`,
          `scalar`,
          `t1`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `at`,
            `__st_weight`
          FROM `changes`.`events`
        ) AS `t1`
        CROSS JOIN (
          SELECT
            `now` AS `scalar`
          FROM (
            SELECT
              `now`
            FROM `after`.`__st_clock`
          ) AS `t`
        ) AS `t2`
      ) AS `t`
      WHERE
        `at` > `scalar` - INTERVAL '1' HOUR
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `at`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `at`,
        `__st_weight`
      FROM (
        SELECT
          `t`.`id`,
          `t`.`at`,
          CASE
            WHEN NOT `o`.`__st_weight` IS NULL AND `at` > `o`.`scalar` - INTERVAL '1' HOUR
            THEN `o`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END + CASE
            WHEN NOT `n`.`__st_weight` IS NULL AND `at` > `n`.`scalar` - INTERVAL '1' HOUR
            THEN `n`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `at`
          FROM `before`.`events`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM `__st_net_1` AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM `__st_net_1` AS `s`
          WHERE
            `__st_weight` > 0
        ) AS `n`
          ON TRUE
      ) AS `w`
      WHERE
        `__st_weight` <> 0
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `at`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, at timestamp
-- answer
SELECT
  `id`,
  `at`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `at`,
    `scalar`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `at`,
      `scalar`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id`,
        `at`,
        `scalar`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `at`,
          `__st_weight`
        FROM `__st_changes_events`
      ) AS `t1`
      CROSS JOIN (
        SELECT
          `now` AS `scalar`
        FROM (
          SELECT
            `now`
          FROM `__st_after___st_clock`
        ) AS `t`
      ) AS `t2`
    ) AS `t1`
  ) AS `t`
  WHERE
    `at` > `scalar` - INTERVAL '1' HOUR
) AS `t`
