-- title: ROLLUP is a union of aggregates
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT a, b, sum(id) AS n, grouping(b) AS g
FROM r
GROUP BY ROLLUP (a, b)
---- plan
Project a_2 as a, b_2 as b, sum as n, grouping_bit as g  [linear]
  UnionAll  [linear]
    Project a as a_2, b as b_2, sum, CAST(0 AS TINYINT) as grouping_bit  [linear]
      Aggregate by a, b: sum(id) as sum  [keyed]
        Scan r (id, a, b)  [linear]
    Project a as a_2, CAST(NULL AS INT) as b_2, sum, CAST(1 AS TINYINT) as grouping_bit  [linear]
      Aggregate by a: sum(id) as sum  [keyed]
        Scan r (id, a, b)  [linear]
    Project CAST(NULL AS INT) as a_2, CAST(NULL AS INT) as b_2, sum, CAST(1 AS TINYINT) as grouping_bit  [linear]
      Aggregate by every: sum(id) as sum  [keyed]
        Project id, 1 as every  [linear]
          Scan r (id, a, b)  [linear]
---- delta plan
Net
  Project a_2 as a, b_2 as b, sum as n, grouping_bit as g  [linear]
    UnionAll  [linear]
      Project a as a_2, b as b_2, sum, CAST(0 AS TINYINT) as grouping_bit  [linear]
        Net
          Sum
            Aggregate by a, b: sum(id) as sum  [keyed]
              Restrict a <=> key a and b <=> key b
                Scan after.r (id, a, b)  [linear]
                Keys a, b (#1)
                  Net (#2)
                    Scan changes.r (id, a, b)  [linear]
            Negate
              Aggregate by a, b: sum(id) as sum  [keyed]
                Restrict a <=> key a and b <=> key b
                  Scan before.r (id, a, b)  [linear]
                  #1
      Project a as a_2, CAST(NULL AS INT) as b_2, sum, CAST(1 AS TINYINT) as grouping_bit  [linear]
        Net
          Sum
            Aggregate by a: sum(id) as sum  [keyed]
              Restrict a <=> key a
                Scan after.r (id, a, b)  [linear]
                Keys a (#3)
                  #2
            Negate
              Aggregate by a: sum(id) as sum  [keyed]
                Restrict a <=> key a
                  Scan before.r (id, a, b)  [linear]
                  #3
      Project CAST(NULL AS INT) as a_2, CAST(NULL AS INT) as b_2, sum, CAST(1 AS TINYINT) as grouping_bit  [linear]
        Net
          Sum
            Aggregate by every: sum(id) as sum  [keyed]
              Restrict every <=> key every
                Project id, 1 as every  [linear]
                  Scan after.r (id, a, b)  [linear]
                Keys every (#4)
                  Project id, 1 as every  [linear]
                    #2
            Negate
              Aggregate by every: sum(id) as sum  [keyed]
                Restrict every <=> key every
                  Project id, 1 as every  [linear]
                    Scan before.r (id, a, b)  [linear]
                  #4
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
    `a`,
    `b`
  FROM `__st_net_1` AS `t`
), `__st_net_2` AS (
  SELECT
    `a`,
    `b`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        `b`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`a`,
            `t`.`b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM `after`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b`
        ) AS `t`
        GROUP BY
          `a`,
          `b`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        `b`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`a`,
            `t`.`b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM `before`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b`
        ) AS `t`
        GROUP BY
          `a`,
          `b`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`,
      `b`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `a`
  FROM `__st_net_1` AS `t`
), `__st_net_3` AS (
  SELECT
    `a`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`a`,
            `t`.`b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM `after`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
        ) AS `t`
        GROUP BY
          `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`a`,
            `t`.`b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM `before`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
        ) AS `t`
        GROUP BY
          `a`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_3` AS (
  SELECT DISTINCT
    `every`
  FROM (
    SELECT
      `id`,
      1 AS `every`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
), `__st_net_4` AS (
  SELECT
    `every`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `every`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `every`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `every`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`every`
          FROM (
            SELECT
              `id`,
              1 AS `every`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`
              FROM `after`.`r`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_3` AS `k`
            ON `t`.`every` IS NOT DISTINCT FROM `k`.`every`
        ) AS `t`
        GROUP BY
          `every`
      ) AS `t`
      UNION ALL
      SELECT
        `every`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `every`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`every`
          FROM (
            SELECT
              `id`,
              1 AS `every`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`
              FROM `before`.`r`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_3` AS `k`
            ON `t`.`every` IS NOT DISTINCT FROM `k`.`every`
        ) AS `t`
        GROUP BY
          `every`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `every`,
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
      `grouping_bit` AS `g`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `b` AS `b_2`,
        `sum`,
        CAST(0 AS TINYINT) AS `grouping_bit`,
        `__st_weight`
      FROM `__st_net_2` AS `t`
      UNION ALL
      SELECT
        `a` AS `a_2`,
        CAST(NULL AS INT) AS `b_2`,
        `sum`,
        CAST(1 AS TINYINT) AS `grouping_bit`,
        `__st_weight`
      FROM `__st_net_3` AS `t`
      UNION ALL
      SELECT
        CAST(NULL AS INT) AS `a_2`,
        CAST(NULL AS INT) AS `b_2`,
        `sum`,
        CAST(1 AS TINYINT) AS `grouping_bit`,
        `__st_weight`
      FROM `__st_net_4` AS `t`
    ) AS `t`
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
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a int, b int, n bigint, g tinyint
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `a`,
    `b`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`a`,
  `t`.`b`
FROM (
  SELECT
    `id`,
    `a`,
    `b`
  FROM `__st_after_r`
) AS `t`
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b`
-- step __st_step_2
WITH `__st_keys_2` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`a`,
  `t`.`b`
FROM (
  SELECT
    `id`,
    `a`,
    `b`
  FROM `__st_after_r`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `a`,
    `b`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
), `__st_net_1` AS (
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `b`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`id`,
          `t`.`a`,
          `t`.`b`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `b`,
            `__st_weight`
          FROM `__st_changes_r`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_1` AS `k`
          ON `t`.`a` IS NOT DISTINCT FROM `k`.`a` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `a`,
    `b`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        `b`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          sum(`id`) AS `sum`
        FROM `__st_step_1` AS `t`
        GROUP BY
          `a`,
          `b`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        `b`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `id`,
            `a`,
            `b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`,
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
        GROUP BY
          `a`,
          `b`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`,
      `b`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `id`,
    `a`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`
        FROM `__st_step_2` AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `b`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`id`,
            `t`.`a`,
            `t`.`b`,
            `t`.`__st_weight`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`,
              `__st_weight`
            FROM `__st_changes_r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_4` AS (
  SELECT
    `a`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          sum(`id`) AS `sum`
        FROM `__st_step_2` AS `t`
        GROUP BY
          `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`,
          sum(`id`) AS `sum`
        FROM (
          SELECT
            `id`,
            `a`
          FROM (
            SELECT
              `id`,
              `a`,
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
            FROM `__st_net_3` AS `t`
            WHERE
              `__st_weight` <> 0
          ) AS `s`
        ) AS `t`
        GROUP BY
          `a`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_3` AS (
  SELECT
    `every`
  FROM (
    SELECT
      1 AS `every`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
  ) AS `t`
), `__st_net_5` AS (
  SELECT
    `id`,
    `every`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `every`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`k`) */
        `t`.`id`,
        `t`.`every`,
        `t`.`__st_weight`
      FROM (
        SELECT
          `id`,
          1 AS `every`,
          `__st_weight`
        FROM (
          SELECT
            `id`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM (
            SELECT
              `id`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`
              FROM `__st_after_r`
            ) AS `t`
          ) AS `t`
          UNION ALL
          SELECT
            `id`,
            `__st_weight`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`,
              -`__st_weight` AS `__st_weight`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`,
                `__st_weight`
              FROM `__st_changes_r`
            ) AS `t`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_3` AS `k`
        ON `t`.`every` IS NOT DISTINCT FROM `k`.`every`
    ) AS `t`
    GROUP BY
      `id`,
      `every`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_6` AS (
  SELECT
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `sum`
        FROM (
          SELECT
            `every`,
            sum(`id`) AS `sum`
          FROM (
            SELECT /*+ BROADCAST(`k`) */
              `t`.`id`,
              `t`.`every`
            FROM (
              SELECT
                `id`,
                1 AS `every`
              FROM (
                SELECT
                  `id`,
                  `a`,
                  `b`
                FROM `__st_after_r`
              ) AS `t`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_3` AS `k`
              ON `t`.`every` IS NOT DISTINCT FROM `k`.`every`
          ) AS `t`
          GROUP BY
            `every`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `sum`,
        `__st_weight`
      FROM (
        SELECT
          `every`,
          `sum`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `every`,
            sum(`id`) AS `sum`
          FROM (
            SELECT
              `id`,
              `every`
            FROM (
              SELECT
                `id`,
                `every`,
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
              FROM `__st_net_5` AS `t`
              WHERE
                `__st_weight` <> 0
            ) AS `s`
          ) AS `t`
          GROUP BY
            `every`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a_2` AS `a`,
  `b_2` AS `b`,
  `sum` AS `n`,
  `grouping_bit` AS `g`,
  `__st_weight`
FROM (
  SELECT
    `a` AS `a_2`,
    `b` AS `b_2`,
    `sum`,
    CAST(0 AS TINYINT) AS `grouping_bit`,
    `__st_weight`
  FROM `__st_net_2` AS `t`
  UNION ALL
  SELECT
    `a` AS `a_2`,
    CAST(NULL AS INT) AS `b_2`,
    `sum`,
    CAST(1 AS TINYINT) AS `grouping_bit`,
    `__st_weight`
  FROM `__st_net_4` AS `t`
  UNION ALL
  SELECT
    CAST(NULL AS INT) AS `a_2`,
    CAST(NULL AS INT) AS `b_2`,
    `sum`,
    CAST(1 AS TINYINT) AS `grouping_bit`,
    `__st_weight`
  FROM `__st_net_6` AS `t`
) AS `t`
-- found: __st_old_1_2_r(id, a) where a in (__st_changes_r.a)
-- found: __st_found_1_2_r(id, a) where a in (__st_changes_r.a)
-- found: __st_old_1_1_r(id, a, b) where a in (__st_changes_r.a) and b in (__st_changes_r.b)
-- found: __st_found_1_1_r(id, a, b) where a in (__st_changes_r.a) and b in (__st_changes_r.b)
