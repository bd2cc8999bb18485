-- title: NOT IN minds every NULL
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id
FROM r
WHERE a NOT IN (SELECT b FROM u)
---- plan
Project id  [linear]
  Filter NOT any  [linear]
    Project id, CASE WHEN found THEN TRUE WHEN gap OR ((a) IS NULL AND some) THEN TRUE ELSE FALSE END as any  [linear]
      InnerJoin every pair  [multilinear]
        Existence mark a = b_3  [keyed]
          Scan r (id, a)  [linear]
          Project b_2 as b_3 (#1)  [linear]
            Scan u (b as b_2)  [linear]
        Project rows > 0 as some, present < rows as gap  [linear]
          Aggregate of all rows: count(*) as rows, count(b_3) as present  [whole]
            #1
---- delta plan
Net
  Sum
    Project id  [linear]
      Filter NOT (CASE WHEN found THEN TRUE WHEN gap OR ((a) IS NULL AND some) THEN TRUE ELSE FALSE END)  [linear]
        InnerJoin every pair  [multilinear]
          Net
            Sum
              Existence mark a = b_3  [keyed]
                Net (#1)
                  Scan changes.r (id, a)  [linear]
                Project b_2 as b_3 (#2)  [linear]
                  Restrict b_2 <=> key b_3
                    Scan after.u (b as b_2)  [linear]
                    Keys b_3 (#3)
                      Sum
                        Project a as b_3  [linear]
                          #1
                        Project a as b_3  [linear]
                          Restrict a <=> key b_3 (#4)
                            Scan before.r (id, a)  [linear]
                            Keys b_3
                              Project b_2 as b_3  [linear]
                                Net
                                  Scan changes.u (b as b_2)  [linear]
              Existence mark a = b_3  [keyed]
                #4
                #2
              Negate
                Existence mark a = b_3  [keyed]
                  #4
                  Project b_2 as b_3  [linear]
                    Restrict b_2 <=> key b_3
                      Scan before.u (b as b_2)  [linear]
                      #3
          Project rows > 0 as some, present < rows as gap  [linear]
            Aggregate of all rows: count(*) as rows, count(b_3) as present  [whole]
              Project b_2 as b_3 (#5)  [linear]
                Scan after.u (b as b_2)  [linear]
    Project id  [linear]
      Weighed NOT (CASE WHEN found THEN TRUE WHEN gap OR ((a) IS NULL AND some) THEN TRUE ELSE FALSE END)
        Existence mark a = b_3  [keyed]
          Scan before.r (id, a)  [linear]
          Project b_2 as b_3 (#6)  [linear]
            Scan before.u (b as b_2)  [linear]
        Net
          Project rows > 0 as some, present < rows as gap  [linear]
            Net
              Sum
                Aggregate of all rows: count(*) as rows, count(b_3) as present  [whole]
                  #5
                Negate
                  Aggregate of all rows: count(*) as rows, count(b_3) as present  [whole]
                    #6
---- delta sql (spark)
WITH `__st_net_1` AS (
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
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `id`,
      `a`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `changes`.`u`
    ) AS `t`
    GROUP BY
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `b_3`
  FROM (
    SELECT
      `b_2` AS `b_3`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_step_1` AS (
  SELECT
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `before`.`r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
    UNION ALL
    SELECT
      `b_3`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `b_3`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_step_2` AS (
  SELECT
    `b_2` AS `b_3`
  FROM (
    SELECT
      `t`.`b_2`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `after`.`u`
    ) AS `t`
    LEFT SEMI JOIN `__st_keys_2` AS `k`
      ON `t`.`b_2` = `k`.`b_3`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `id`,
    `a`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`,
          `l`.`__st_weight`
        FROM `__st_net_1` AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM `__st_step_2` AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `found`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`
        FROM `__st_step_1` AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM `__st_step_2` AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `found`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`
        FROM `__st_step_1` AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM (
            SELECT
              `b_2` AS `b_3`
            FROM (
              SELECT
                `t`.`b_2`
              FROM (
                SELECT
                  `b` AS `b_2`
                FROM `before`.`u`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_2` AS `k`
                ON `t`.`b_2` = `k`.`b_3`
            ) AS `t`
          ) AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_step_3` AS (
  SELECT
    `b_2` AS `b_3`
  FROM (
    SELECT
      `b` AS `b_2`
    FROM `after`.`u`
  ) AS `t`
), `__st_step_4` AS (
  SELECT
    `b_2` AS `b_3`
  FROM (
    SELECT
      `b` AS `b_2`
    FROM `before`.`u`
  ) AS `t`
), `__st_net_4` AS (
  SELECT
    `rows`,
    `present`,
    `__st_weight`
  FROM (
    SELECT
      `rows`,
      `present`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows`,
        `present`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `rows`,
          count(`b_3`) AS `present`
        FROM `__st_step_3` AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `rows`,
        `present`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `rows`,
          count(`b_3`) AS `present`
        FROM `__st_step_4` AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `rows`,
      `present`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_5` AS (
  SELECT
    `some`,
    `gap`,
    `__st_weight`
  FROM (
    SELECT
      `some`,
      `gap`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows` > 0 AS `some`,
        `present` < `rows` AS `gap`,
        `__st_weight`
      FROM `__st_net_4` AS `t`
    ) AS `t`
    GROUP BY
      `some`,
      `gap`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `some`,
        `gap`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `found`,
          `some`,
          `gap`,
          `t1`.`__st_weight`
        FROM `__st_net_3` AS `t1`
        CROSS JOIN (
          SELECT
            `rows` > 0 AS `some`,
            `present` < `rows` AS `gap`
          FROM (
            SELECT
              count(*) AS `rows`,
              count(`b_3`) AS `present`
            FROM `__st_step_3` AS `t`
          ) AS `t`
        ) AS `t2`
      ) AS `t`
      WHERE
        NOT (
          CASE
            WHEN `found`
            THEN TRUE
            WHEN `gap` OR (
              (
                `a`
              ) IS NULL AND `some`
            )
            THEN TRUE
            ELSE FALSE
          END
        )
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `t`.`id`,
          `t`.`a`,
          `t`.`found`,
          CASE
            WHEN NOT `o`.`__st_weight` IS NULL
            AND NOT (
              CASE
                WHEN `found`
                THEN TRUE
                WHEN `o`.`gap` OR (
                  (
                    `a`
                  ) IS NULL AND `o`.`some`
                )
                THEN TRUE
                ELSE FALSE
              END
            )
            THEN `o`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END + CASE
            WHEN NOT `n`.`__st_weight` IS NULL
            AND NOT (
              CASE
                WHEN `found`
                THEN TRUE
                WHEN `n`.`gap` OR (
                  (
                    `a`
                  ) IS NULL AND `n`.`some`
                )
                THEN TRUE
                ELSE FALSE
              END
            )
            THEN `n`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`a`,
            coalesce(`r`.`__st_found`, FALSE) AS `found`
          FROM (
            SELECT
              `id`,
              `a`
            FROM `before`.`r`
          ) AS `l`
          LEFT JOIN (
            SELECT DISTINCT
              `b_3`,
              TRUE AS `__st_found`
            FROM `__st_step_4` AS `k`
          ) AS `r`
            ON `a` = `b_3`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_5` AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_5` AS `s`
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
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `b_2` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
)
SELECT
  `id`,
  `a`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `__st_after_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
) AS `t`
UNION ALL
SELECT
  `id`,
  `a`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`b_2`
FROM (
  SELECT
    `b` AS `b_2`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`b_2` = `k`.`b_3`
-- step __st_net_5
WITH `__st_groups_1` AS (
  SELECT
    count(*) AS `rows`,
    count(`b_3`) AS `present`
  FROM (
    SELECT
      `b_2` AS `b_3`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `__st_after_u`
    ) AS `t`
  ) AS `t`
), `__st_step_3` AS (
  SELECT
    `b_2` AS `b_3`,
    `__st_weight`
  FROM (
    SELECT
      `b_2`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `__st_after_u`
    ) AS `t`
    UNION ALL
    SELECT
      `b_2`,
      -`__st_weight` AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
), `__st_net_4` AS (
  SELECT
    `rows`,
    `present`,
    `__st_weight`
  FROM (
    SELECT
      `rows`,
      `present`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows`,
        `present`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_groups_1` AS `t`
      UNION ALL
      SELECT
        `rows`,
        `present`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          coalesce(`rows`, CAST(0 AS BIGINT)) AS `rows`,
          coalesce(`present`, CAST(0 AS BIGINT)) AS `present`
        FROM (
          SELECT
            sum(`__st_weight`) AS `rows`,
            sum(`__st_weight`) FILTER(WHERE
              NOT (
                `b_3`
              ) IS NULL) AS `present`
          FROM (
            SELECT
              `b_3`,
              `__st_weight`
            FROM `__st_step_3` AS `t`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `rows`,
      `present`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `some`,
  `gap`,
  `__st_weight`
FROM (
  SELECT
    `some`,
    `gap`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `rows` > 0 AS `some`,
      `present` < `rows` AS `gap`,
      `__st_weight`
    FROM `__st_net_4` AS `t`
  ) AS `t`
  GROUP BY
    `some`,
    `gap`
) AS `s`
WHERE
  `__st_weight` <> 0
-- answer
WITH `__st_step_2` AS (
  SELECT
    `b_2` AS `b_3`
  FROM `__st_step_1` AS `t`
), `__st_keys_2` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_net_1` AS (
  SELECT
    `b_3`,
    `__st_weight`
  FROM (
    SELECT
      `b_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b_2` AS `b_3`,
        `__st_weight`
      FROM (
        SELECT
          `b_2`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM `__st_step_1` AS `t`
        UNION ALL
        SELECT
          `b_2`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`b_2`,
            `t`.`__st_weight`
          FROM (
            SELECT
              `b` AS `b_2`,
              `__st_weight`
            FROM `__st_changes_u`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`b_2` = `k`.`b_3`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `b_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id`,
    `a`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `__st_weight`
          FROM `__st_changes_r`
        ) AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM `__st_step_2` AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM `__st_step_2` AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `found`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          coalesce(`r`.`__st_found`, FALSE) AS `found`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN (
          SELECT DISTINCT
            `b_3`,
            TRUE AS `__st_found`
          FROM (
            SELECT
              `b_3`
            FROM (
              SELECT
                `b_3`,
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
          ) AS `k`
        ) AS `r`
          ON `a` = `b_3`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_groups_1` AS (
  SELECT
    count(*) AS `rows`,
    count(`b_3`) AS `present`
  FROM (
    SELECT
      `b_2` AS `b_3`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `__st_after_u`
    ) AS `t`
  ) AS `t`
), `__st_step_3` AS (
  SELECT
    `b_2` AS `b_3`,
    `__st_weight`
  FROM (
    SELECT
      `b_2`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `__st_after_u`
    ) AS `t`
    UNION ALL
    SELECT
      `b_2`,
      -`__st_weight` AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `b_3`,
    `__st_weight`
  FROM (
    SELECT
      `b_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM `__st_step_3` AS `t`
    GROUP BY
      `b_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `some`,
        `gap`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `found`,
          `some`,
          `gap`,
          `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `id`,
            `a`,
            `found`,
            `some`,
            `gap`,
            `t1`.`__st_weight`
          FROM `__st_net_2` AS `t1`
          CROSS JOIN (
            SELECT
              `rows` > 0 AS `some`,
              `present` < `rows` AS `gap`
            FROM `__st_groups_1` AS `t`
          ) AS `t2`
        ) AS `t1`
      ) AS `t`
      WHERE
        NOT (
          CASE
            WHEN `found`
            THEN TRUE
            WHEN `gap` OR (
              (
                `a`
              ) IS NULL AND `some`
            )
            THEN TRUE
            ELSE FALSE
          END
        )
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`o`, `n`) */
          `t`.`id`,
          `t`.`a`,
          `t`.`found`,
          `t`.`__st_weight` * (
            CASE
              WHEN NOT `o`.`__st_weight` IS NULL
              AND NOT (
                CASE
                  WHEN `found`
                  THEN TRUE
                  WHEN `o`.`gap` OR (
                    (
                      `a`
                    ) IS NULL AND `o`.`some`
                  )
                  THEN TRUE
                  ELSE FALSE
                END
              )
              THEN `o`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END + CASE
              WHEN NOT `n`.`__st_weight` IS NULL
              AND NOT (
                CASE
                  WHEN `found`
                  THEN TRUE
                  WHEN `n`.`gap` OR (
                    (
                      `a`
                    ) IS NULL AND `n`.`some`
                  )
                  THEN TRUE
                  ELSE FALSE
                END
              )
              THEN `n`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END
          ) AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`a`,
            coalesce(`r`.`__st_found`, FALSE) AS `found`,
            `l`.`__st_weight`
          FROM (
            SELECT
              `id`,
              `a`,
              CAST(1 AS BIGINT) AS `__st_weight`
            FROM (
              SELECT
                `id`,
                `a`
              FROM `__st_after_r`
            ) AS `t`
            UNION ALL
            SELECT
              `id`,
              `a`,
              -`__st_weight` AS `__st_weight`
            FROM (
              SELECT
                `id`,
                `a`,
                `__st_weight`
              FROM `__st_changes_r`
            ) AS `t`
          ) AS `l`
          LEFT JOIN (
            SELECT DISTINCT
              `b_3`,
              TRUE AS `__st_found`
            FROM (
              SELECT
                `b_3`
              FROM (
                SELECT
                  `b_3`,
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
            ) AS `k`
          ) AS `r`
            ON `a` = `b_3`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_5` AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_5` AS `s`
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
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
-- found: __st_old_1_1_u(b) where b in (__st_changes_r.a, __st_changes_u.b)
-- found: __st_found_1_1_u(b) where b in (__st_changes_r.a, __st_changes_u.b)
-- found: __st_old_1_1_r(id, a) where a in (__st_changes_u.b)
