-- title: EXCEPT ALL counts both sides
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT a, b FROM r EXCEPT ALL SELECT a, b FROM u
---- plan
Project a_5 as a, b_5 as b  [linear]
  Generate explode(sequence(CAST(1 AS BIGINT), CAST(on_left - on_right AS BIGINT))) as time  [linear]
    Filter on_left > on_right  [linear]
      Aggregate by a_5, b_5: sum(left) as on_left, sum(right) as on_right  [keyed]
        UnionAll  [linear]
          Project a_5, b_5, 1 as left, 0 as right  [linear]
            Project a as a_5, b as b_5  [linear]
              Scan r (a, b)  [linear]
          Project a_5, b_5, 0 as left, 1 as right  [linear]
            Project a_3 as a_5, b_3 as b_5  [linear]
              Scan u (a as a_3, b as b_3)  [linear]
---- delta plan
Net
  Project a_5 as a, b_5 as b  [linear]
    Generate explode(sequence(CAST(1 AS BIGINT), CAST(on_left - on_right AS BIGINT))) as time  [linear]
      Net
        Filter on_left > on_right  [linear]
          Sum
            Aggregate by a_5, b_5: sum(left) as on_left, sum(right) as on_right  [keyed]
              UnionAll  [linear]
                Project a_5, b_5, 1 as left, 0 as right  [linear]
                  Project a as a_5, b as b_5  [linear]
                    Restrict a <=> key a_5 and b <=> key b_5
                      Scan after.r (a, b)  [linear]
                      Keys a_5, b_5 (#1)
                        UnionAll  [linear]
                          Project a_5, b_5, 1 as left, 0 as right  [linear]
                            Project a as a_5, b as b_5  [linear]
                              Net
                                Scan changes.r (a, b)  [linear]
                          Project a_5, b_5, 0 as left, 1 as right  [linear]
                            Project a_3 as a_5, b_3 as b_5  [linear]
                              Scan changes.u (a as a_3, b as b_3)  [linear]
                Project a_5, b_5, 0 as left, 1 as right  [linear]
                  Project a_3 as a_5, b_3 as b_5  [linear]
                    Restrict a_3 <=> key a_5 and b_3 <=> key b_5
                      Scan after.u (a as a_3, b as b_3)  [linear]
                      #1
            Negate
              Aggregate by a_5, b_5: sum(left) as on_left, sum(right) as on_right  [keyed]
                UnionAll  [linear]
                  Project a_5, b_5, 1 as left, 0 as right  [linear]
                    Project a as a_5, b as b_5  [linear]
                      Restrict a <=> key a_5 and b <=> key b_5
                        Scan before.r (a, b)  [linear]
                        #1
                  Project a_5, b_5, 0 as left, 1 as right  [linear]
                    Project a_3 as a_5, b_3 as b_5  [linear]
                      Restrict a_3 <=> key a_5 and b_3 <=> key b_5
                        Scan before.u (a as a_3, b as b_3)  [linear]
                        #1
---- delta sql (spark)
WITH `__st_net_1` AS (
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
        `a`,
        `b`,
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `a`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `a_5`,
    `b_5`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      1 AS `left`,
      0 AS `right`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM `__st_net_1` AS `t`
    ) AS `t`
    UNION ALL
    SELECT
      `a_5`,
      `b_5`,
      0 AS `left`,
      1 AS `right`,
      `__st_weight`
    FROM (
      SELECT
        `a_3` AS `a_5`,
        `b_3` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          `__st_weight`
        FROM `changes`.`u`
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `a_5`,
    `b_5`,
    `on_left`,
    `on_right`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `on_left`,
      `on_right`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `b_5`,
        `on_left`,
        `on_right`,
        `__st_weight`
      FROM (
        SELECT
          `a_5`,
          `b_5`,
          `on_left`,
          `on_right`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a_5`,
            `b_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `a_5`,
              `b_5`,
              1 AS `left`,
              0 AS `right`
            FROM (
              SELECT
                `a` AS `a_5`,
                `b` AS `b_5`
              FROM (
                SELECT
                  `t`.`a`,
                  `t`.`b`
                FROM (
                  SELECT
                    `a`,
                    `b`
                  FROM `after`.`r`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b_5`
              ) AS `t`
            ) AS `t`
            UNION ALL
            SELECT
              `a_5`,
              `b_5`,
              0 AS `left`,
              1 AS `right`
            FROM (
              SELECT
                `a_3` AS `a_5`,
                `b_3` AS `b_5`
              FROM (
                SELECT
                  `t`.`a_3`,
                  `t`.`b_3`
                FROM (
                  SELECT
                    `a` AS `a_3`,
                    `b` AS `b_3`
                  FROM `after`.`u`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`a_5`
                  AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`b_5`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          GROUP BY
            `a_5`,
            `b_5`
        ) AS `t`
        UNION ALL
        SELECT
          `a_5`,
          `b_5`,
          `on_left`,
          `on_right`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a_5`,
            `b_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `a_5`,
              `b_5`,
              1 AS `left`,
              0 AS `right`
            FROM (
              SELECT
                `a` AS `a_5`,
                `b` AS `b_5`
              FROM (
                SELECT
                  `t`.`a`,
                  `t`.`b`
                FROM (
                  SELECT
                    `a`,
                    `b`
                  FROM `before`.`r`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b_5`
              ) AS `t`
            ) AS `t`
            UNION ALL
            SELECT
              `a_5`,
              `b_5`,
              0 AS `left`,
              1 AS `right`
            FROM (
              SELECT
                `a_3` AS `a_5`,
                `b_3` AS `b_5`
              FROM (
                SELECT
                  `t`.`a_3`,
                  `t`.`b_3`
                FROM (
                  SELECT
                    `a` AS `a_3`,
                    `b` AS `b_3`
                  FROM `before`.`u`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`a_5`
                  AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`b_5`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          GROUP BY
            `a_5`,
            `b_5`
        ) AS `t`
      ) AS `t`
      WHERE
        `on_left` > `on_right`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`,
      `on_left`,
      `on_right`
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
      `a_5` AS `a`,
      `b_5` AS `b`,
      `__st_weight`
    FROM (
      SELECT
        `t`.`a_5`,
        `t`.`b_5`,
        `t`.`on_left`,
        `t`.`on_right`,
        `time`,
        `t`.`__st_weight`
      FROM `__st_net_2` AS `t`
      LATERAL VIEW
      explode(sequence(CAST(1 AS BIGINT), CAST(`on_left` - `on_right` AS BIGINT))) g AS `time`
    ) AS `t`
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
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `a_5`,
    `b_5`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `__st_changes_r`
      ) AS `t`
    ) AS `t`
    UNION ALL
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a_3` AS `a_5`,
        `b_3` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a`,
  `t`.`b`
FROM (
  SELECT
    `a`,
    `b`
  FROM `__st_after_r`
) AS `t`
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b_5`
-- step __st_step_2
WITH `__st_keys_1` AS (
  SELECT
    `a_5`,
    `b_5`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `__st_changes_r`
      ) AS `t`
    ) AS `t`
    UNION ALL
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a_3` AS `a_5`,
        `b_3` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_3`,
  `t`.`b_3`
FROM (
  SELECT
    `a` AS `a_3`,
    `b` AS `b_3`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`a_5`
  AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`b_5`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `a_5`,
    `b_5`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `__st_changes_r`
      ) AS `t`
    ) AS `t`
    UNION ALL
    SELECT
      `a_5`,
      `b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a_3` AS `a_5`,
        `b_3` AS `b_5`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `a_5`,
    `b_5`,
    `left`,
    `right`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `left`,
      `right`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `b_5`,
        1 AS `left`,
        0 AS `right`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`,
          `__st_weight`
        FROM (
          SELECT
            `a`,
            `b`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM `__st_step_1` AS `t`
          UNION ALL
          SELECT
            `a`,
            `b`,
            -`__st_weight` AS `__st_weight`
          FROM (
            SELECT /*+ BROADCAST(`k`) */
              `t`.`a`,
              `t`.`b`,
              `t`.`__st_weight`
            FROM (
              SELECT
                `a`,
                `b`,
                `__st_weight`
              FROM `__st_changes_r`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5` AND `t`.`b` IS NOT DISTINCT FROM `k`.`b_5`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `a_5`,
        `b_5`,
        0 AS `left`,
        1 AS `right`,
        `__st_weight`
      FROM (
        SELECT
          `a_3` AS `a_5`,
          `b_3` AS `b_5`,
          `__st_weight`
        FROM (
          SELECT
            `a_3`,
            `b_3`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM `__st_step_2` AS `t`
          UNION ALL
          SELECT
            `a_3`,
            `b_3`,
            -`__st_weight` AS `__st_weight`
          FROM (
            SELECT /*+ BROADCAST(`k`) */
              `t`.`a_3`,
              `t`.`b_3`,
              `t`.`__st_weight`
            FROM (
              SELECT
                `a` AS `a_3`,
                `b` AS `b_3`,
                `__st_weight`
              FROM `__st_changes_u`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`a_5`
              AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`b_5`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`,
      `left`,
      `right`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `a_5`,
    `b_5`,
    `on_left`,
    `on_right`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      `on_left`,
      `on_right`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `b_5`,
        `on_left`,
        `on_right`,
        `__st_weight`
      FROM (
        SELECT
          `a_5`,
          `b_5`,
          `on_left`,
          `on_right`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a_5`,
            `b_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `a_5`,
              `b_5`,
              1 AS `left`,
              0 AS `right`
            FROM (
              SELECT
                `a` AS `a_5`,
                `b` AS `b_5`
              FROM `__st_step_1` AS `t`
            ) AS `t`
            UNION ALL
            SELECT
              `a_5`,
              `b_5`,
              0 AS `left`,
              1 AS `right`
            FROM (
              SELECT
                `a_3` AS `a_5`,
                `b_3` AS `b_5`
              FROM `__st_step_2` AS `t`
            ) AS `t`
          ) AS `t`
          GROUP BY
            `a_5`,
            `b_5`
        ) AS `t`
        UNION ALL
        SELECT
          `a_5`,
          `b_5`,
          `on_left`,
          `on_right`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a_5`,
            `b_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `a_5`,
              `b_5`,
              `left`,
              `right`
            FROM (
              SELECT
                `a_5`,
                `b_5`,
                `left`,
                `right`,
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
            `a_5`,
            `b_5`
        ) AS `t`
      ) AS `t`
      WHERE
        `on_left` > `on_right`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`,
      `on_left`,
      `on_right`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a_5` AS `a`,
  `b_5` AS `b`,
  `__st_weight`
FROM (
  SELECT
    `t`.`a_5`,
    `t`.`b_5`,
    `t`.`on_left`,
    `t`.`on_right`,
    `time`,
    `t`.`__st_weight`
  FROM `__st_net_2` AS `t`
  LATERAL VIEW
  explode(sequence(CAST(1 AS BIGINT), CAST(`on_left` - `on_right` AS BIGINT))) g AS `time`
) AS `t`
-- found: __st_old_1_1_u(a, b) where a in (__st_changes_r.a, __st_changes_u.a) and b in (__st_changes_r.b, __st_changes_u.b)
-- found: __st_old_1_1_r(a, b) where a in (__st_changes_r.a, __st_changes_u.a) and b in (__st_changes_r.b, __st_changes_u.b)
-- found: __st_found_1_1_u(a, b) where a in (__st_changes_r.a, __st_changes_u.a) and b in (__st_changes_r.b, __st_changes_u.b)
-- found: __st_found_1_1_r(a, b) where a in (__st_changes_r.a, __st_changes_u.a) and b in (__st_changes_r.b, __st_changes_u.b)
