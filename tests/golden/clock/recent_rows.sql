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
  Project id, at  [linear]
    Filter at > scalar - INTERVAL '1' HOUR  [linear]
      Sum
        InnerJoin every pair  [multilinear]
          Scan changes.events (id, at)  [linear]
          Project now as scalar  [linear]
            Clock as now  [linear]
        InnerJoin every pair  [multilinear]
          Scan before.events (id, at)  [linear]
          Project now as scalar  [linear]
            Sum
              Clock as now  [linear]
              Negate
                Clock as now  [linear]
---- delta sql (spark)
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
        UNION ALL
        SELECT
          `id`,
          `at`,
          `scalar`,
          `t1`.`__st_weight`
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
        ) AS `t1`
        CROSS JOIN (
          SELECT
            `id`,
            `at`
          FROM `before`.`events`
        ) AS `t2`
      ) AS `t`
      WHERE
        `at` > `scalar` - INTERVAL '1' HOUR
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
