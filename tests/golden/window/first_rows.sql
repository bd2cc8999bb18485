-- title: the first rows of an order
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT a, b
FROM u
ORDER BY b DESC
LIMIT 3
---- plan
Project a_2 as a, b_2 as b  [linear]
  TopK first 3 after 0 in order b_2 DESC, a_2 ASC  [whole]
    Project a as a_2, b as b_2  [linear]
      Scan u (a, b)  [linear]
---- delta plan
Net
  Project a_2 as a, b_2 as b  [linear]
    Net
      Sum
        TopK first 3 after 0 in order b_2 DESC, a_2 ASC  [whole]
          Project a as a_2, b as b_2  [linear]
            Scan after.u (a, b)  [linear]
        Negate
          TopK first 3 after 0 in order b_2 DESC, a_2 ASC  [whole]
            Project a as a_2, b as b_2  [linear]
              Scan before.u (a, b)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_2`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_2`,
        `b_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_2`,
          `b_2`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`
          FROM (
            SELECT
              `a`,
              `b`
            FROM `after`.`u`
          ) AS `t`
        ) AS `t`
        ORDER BY
          `b_2` DESC,
          `a_2` ASC
        LIMIT 3
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_2`,
          `b_2`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`
          FROM (
            SELECT
              `a`,
              `b`
            FROM `before`.`u`
          ) AS `t`
        ) AS `t`
        ORDER BY
          `b_2` DESC,
          `a_2` ASC
        LIMIT 3
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_2`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `b`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `b`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_2` AS `a`,
      `b_2` AS `b`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `b`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a int, b int
-- answer
WITH `__st_net_1` AS (
  SELECT
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_2`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `b` AS `b_2`,
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
    ) AS `t`
    GROUP BY
      `a_2`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_2`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_2`,
        `b_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_2`,
          `b_2`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`
          FROM (
            SELECT
              `a`,
              `b`
            FROM `__st_after_u`
          ) AS `t`
        ) AS `t`
        ORDER BY
          `b_2` DESC,
          `a_2` ASC
        LIMIT 3
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_2`,
          `b_2`
        FROM (
          SELECT
            `a_2`,
            `b_2`
          FROM (
            SELECT
              `a_2`,
              `b_2`,
              CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
              explode(
                sequence(
                  CAST(1 AS BIGINT),
                  CAST(IF(
                    `__st_weight` < 0,
                    CAST(raise_error('streamtables: changes take away rows that were not there') AS BIGINT),
                    `__st_weight`
                  ) AS BIGINT)
                )
              ) AS `__st_n`
            FROM `__st_net_1` AS `t`
            WHERE
              `__st_weight` <> 0
          ) AS `s`
        ) AS `t`
        ORDER BY
          `b_2` DESC,
          `a_2` ASC
        LIMIT 3
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_2`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `b`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `b`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_2` AS `a`,
      `b_2` AS `b`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `b`
) AS `s`
WHERE
  `__st_weight` <> 0
