-- title: ROLLUP is a union of aggregates
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT a, b, sum(id) AS n, grouping(b) AS g
FROM r
GROUP BY ROLLUP (a, b)
---- plan
Project a_2 as a, b_2 as b, sum as n, CAST(CASE grouping_set WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 1 END AS TINYINT) as g, grouping_set as __st_key_grouping_set  [linear]
  Aggregate by grouping_set, a_2, b_2: sum(id) as sum  [keyed]
    Project id, grouping_set, CASE WHEN grouping_set IN (0, 1) THEN a ELSE CAST(NULL AS INT) END as a_2, CASE WHEN grouping_set IN (0) THEN b ELSE CAST(NULL AS INT) END as b_2  [linear]
      Generate explode(sequence(0, 2)) as grouping_set  [linear]
        Scan r (id, a, b)  [linear]
---- delta plan
Net
  Project a_2 as a, b_2 as b, sum as n, CAST(CASE grouping_set WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 1 END AS TINYINT) as g  [linear]
    Net
      Sum
        Aggregate by grouping_set, a_2, b_2: sum(id) as sum  [keyed]
          Restrict grouping_set <=> key grouping_set and a_2 <=> key a_2 and b_2 <=> key b_2
            Project id, grouping_set, CASE WHEN grouping_set IN (0, 1) THEN a ELSE CAST(NULL AS INT) END as a_2, CASE WHEN grouping_set IN (0) THEN b ELSE CAST(NULL AS INT) END as b_2  [linear]
              Restrict grouping_set <=> key grouping_set
                Generate explode(sequence(0, 2)) as grouping_set  [linear]
                  Scan after.r (id, a, b)  [linear]
                Keys grouping_set, a_2, b_2 (#1)
                  Project id, grouping_set, CASE WHEN grouping_set IN (0, 1) THEN a ELSE CAST(NULL AS INT) END as a_2, CASE WHEN grouping_set IN (0) THEN b ELSE CAST(NULL AS INT) END as b_2  [linear]
                    Generate explode(sequence(0, 2)) as grouping_set  [linear]
                      Net
                        Scan changes.r (id, a, b)  [linear]
            #1
        Negate
          Aggregate by grouping_set, a_2, b_2: sum(id) as sum  [keyed]
            Restrict grouping_set <=> key grouping_set and a_2 <=> key a_2 and b_2 <=> key b_2
              Project id, grouping_set, CASE WHEN grouping_set IN (0, 1) THEN a ELSE CAST(NULL AS INT) END as a_2, CASE WHEN grouping_set IN (0) THEN b ELSE CAST(NULL AS INT) END as b_2  [linear]
                Restrict grouping_set <=> key grouping_set
                  Generate explode(sequence(0, 2)) as grouping_set  [linear]
                    Scan before.r (id, a, b)  [linear]
                  #1
              #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id`,
    `a`,
    `b`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `grouping_set`,
    `a_2`,
    `b_2`
  FROM (
    SELECT
      `id`,
      `grouping_set`,
      CASE WHEN `grouping_set` IN (0, 1) THEN `a` ELSE CAST(NULL AS INT) END AS `a_2`,
      CASE WHEN `grouping_set` IN (0) THEN `b` ELSE CAST(NULL AS INT) END AS `b_2`,
      `__st_weight`
    FROM (
      SELECT
        `t`.`id`,
        `t`.`a`,
        `t`.`b`,
        `grouping_set`,
        `t`.`__st_weight`
      FROM `__st_net_1` AS `t`
      LATERAL VIEW
      explode(sequence(0, 2)) g AS `grouping_set`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `grouping_set`,
    `a_2`,
    `b_2`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `grouping_set`,
      `a_2`,
      `b_2`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `grouping_set`,
        `a_2`,
        `b_2`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `grouping_set`,
          `a_2`,
          `b_2`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`grouping_set`,
            `t`.`a_2`,
            `t`.`b_2`
          FROM (
            SELECT
              `id`,
              `grouping_set`,
              CASE WHEN `grouping_set` IN (0, 1) THEN `a` ELSE CAST(NULL AS INT) END AS `a_2`,
              CASE WHEN `grouping_set` IN (0) THEN `b` ELSE CAST(NULL AS INT) END AS `b_2`
            FROM (
              SELECT
                `t`.`id`,
                `t`.`a`,
                `t`.`b`,
                `t`.`grouping_set`
              FROM (
                SELECT
                  `t`.`id`,
                  `t`.`a`,
                  `t`.`b`,
                  `grouping_set`
                FROM (
                  SELECT
                    `id`,
                    `a`,
                    `b`
                  FROM `after`.`r`
                ) AS `t`
                LATERAL VIEW
                explode(sequence(0, 2)) g AS `grouping_set`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_1` AS `k`
                ON `t`.`grouping_set` IS NOT DISTINCT FROM `k`.`grouping_set`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`grouping_set` IS NOT DISTINCT FROM `k`.`grouping_set`
            AND `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
            AND `t`.`b_2` IS NOT DISTINCT FROM `k`.`b_2`
        ) AS `t`
        GROUP BY
          `grouping_set`,
          `a_2`,
          `b_2`
      ) AS `t`
      UNION ALL
      SELECT
        `grouping_set`,
        `a_2`,
        `b_2`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `grouping_set`,
          `a_2`,
          `b_2`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`grouping_set`,
            `t`.`a_2`,
            `t`.`b_2`
          FROM (
            SELECT
              `id`,
              `grouping_set`,
              CASE WHEN `grouping_set` IN (0, 1) THEN `a` ELSE CAST(NULL AS INT) END AS `a_2`,
              CASE WHEN `grouping_set` IN (0) THEN `b` ELSE CAST(NULL AS INT) END AS `b_2`
            FROM (
              SELECT
                `t`.`id`,
                `t`.`a`,
                `t`.`b`,
                `t`.`grouping_set`
              FROM (
                SELECT
                  `t`.`id`,
                  `t`.`a`,
                  `t`.`b`,
                  `grouping_set`
                FROM (
                  SELECT
                    `id`,
                    `a`,
                    `b`
                  FROM `before`.`r`
                ) AS `t`
                LATERAL VIEW
                explode(sequence(0, 2)) g AS `grouping_set`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_1` AS `k`
                ON `t`.`grouping_set` IS NOT DISTINCT FROM `k`.`grouping_set`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`grouping_set` IS NOT DISTINCT FROM `k`.`grouping_set`
            AND `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
            AND `t`.`b_2` IS NOT DISTINCT FROM `k`.`b_2`
        ) AS `t`
        GROUP BY
          `grouping_set`,
          `a_2`,
          `b_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `grouping_set`,
      `a_2`,
      `b_2`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `b`,
  `n`,
  `g`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `b`,
    `n`,
    `g`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_2` AS `a`,
      `b_2` AS `b`,
      `sum` AS `n`,
      CAST(CASE `grouping_set` WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 1 END AS TINYINT) AS `g`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `b`,
    `n`,
    `g`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: a int, b int, n bigint, g tinyint, __st_key_grouping_set int, __st_rows bigint, __st_sum_2 bigint, __st_count_1 bigint
-- answer
SELECT
  `grouping_set`,
  `a_2`,
  `b_2`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_sum_2_plus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_2_plus`,
  CAST(coalesce(`__st_sum_2_minus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_2_minus`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`
FROM (
  SELECT
    `grouping_set`,
    `a_2`,
    `b_2`,
    sum(`__st_weight`) AS `__st_rows`,
    sum(`id`) FILTER(WHERE
      `__st_weight` > 0) AS `__st_sum_2_plus`,
    sum(`id`) FILTER(WHERE
      `__st_weight` < 0) AS `__st_sum_2_minus`,
    sum(`__st_weight`) FILTER(WHERE
      NOT (
        `id`
      ) IS NULL) AS `__st_count_1`
  FROM (
    SELECT
      `id`,
      `grouping_set`,
      `a_2`,
      `b_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `grouping_set`,
        `a_2`,
        `b_2`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `grouping_set`,
          `a_2`,
          `b_2`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `id`,
            `grouping_set`,
            CASE WHEN `grouping_set` IN (0, 1) THEN `a` ELSE CAST(NULL AS INT) END AS `a_2`,
            CASE WHEN `grouping_set` IN (0) THEN `b` ELSE CAST(NULL AS INT) END AS `b_2`,
            `__st_weight`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`a`,
              `t`.`b`,
              `grouping_set`,
              `t`.`__st_weight`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`,
                `__st_weight`
              FROM `__st_changes_r`
            ) AS `t`
            LATERAL VIEW
            explode(sequence(0, 2)) g AS `grouping_set`
          ) AS `t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `grouping_set`,
    `a_2`,
    `b_2`
) AS `t`
