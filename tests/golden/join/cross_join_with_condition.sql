-- title: a comma and WHERE are a join; a condition on one input filters it
-- sources: u(a int, b int); w(a int, c int)
SELECT u.b, w.c
FROM u, w
WHERE u.a < w.a AND u.b > 1
---- plan
Project b, c  [linear]
  InnerJoin a < a_2  [multilinear]
    Filter b > 1  [linear]
      Scan u (a, b)  [linear]
    Scan w (a as a_2, c)  [linear]
---- delta plan
Net
  Project b, c  [linear]
    Sum
      InnerJoin a < a_2  [multilinear]
        Filter b > 1  [linear]
          Scan changes.u (a, b)  [linear]
        Scan after.w (a as a_2, c)  [linear]
      InnerJoin a < a_2  [multilinear]
        Filter b > 1  [linear]
          Scan before.u (a, b)  [linear]
        Scan changes.w (a as a_2, c)  [linear]
---- delta sql (spark)
SELECT
  `b`,
  `c`,
  `__st_weight`
FROM (
  SELECT
    `b`,
    `c`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `b`,
      `c`,
      `__st_weight`
    FROM (
      SELECT
        `a`,
        `b`,
        `a_2`,
        `c`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `changes`.`u`
        WHERE
          `b` > 1
      ) AS `t1`
      JOIN (
        SELECT
          `a` AS `a_2`,
          `c`
        FROM `after`.`w`
      ) AS `t2`
        ON `a` < `a_2`
      UNION ALL
      SELECT
        `a`,
        `b`,
        `a_2`,
        `c`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `a` AS `a_2`,
          `c`,
          `__st_weight`
        FROM `changes`.`w`
      ) AS `t1`
      JOIN (
        SELECT
          `a`,
          `b`
        FROM `before`.`u`
        WHERE
          `b` > 1
      ) AS `t2`
        ON `a` < `a_2`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `b`,
    `c`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: b int, c int
-- answer
SELECT
  `b`,
  `c`,
  `__st_weight`
FROM (
  SELECT
    `b`,
    `c`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `a_2`,
      `c`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `a`,
        `b`,
        `a_2`,
        `c`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `__st_changes_u`
        WHERE
          `b` > 1
      ) AS `t1`
      JOIN (
        SELECT
          `a` AS `a_2`,
          `c`
        FROM `__st_after_w`
      ) AS `t2`
        ON `a` < `a_2`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `b`,
    `c`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `a_2`,
      `c`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `a_2`,
        `c`,
        `a`,
        `b`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `a` AS `a_2`,
          `c`,
          `__st_weight`
        FROM `__st_changes_w`
      ) AS `t1`
      JOIN (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM (
          SELECT
            `a`,
            `b`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM (
            SELECT
              `a`,
              `b`
            FROM `__st_after_u`
          ) AS `t`
          UNION ALL
          SELECT
            `a`,
            `b`,
            -`__st_weight` AS `__st_weight`
          FROM (
            SELECT
              `a`,
              `b`,
              `__st_weight`
            FROM `__st_changes_u`
          ) AS `t`
        ) AS `t`
        WHERE
          `b` > 1
      ) AS `t2`
        ON `a` < `a_2`
    ) AS `t1`
  ) AS `t`
) AS `t`
