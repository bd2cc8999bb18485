-- title: full join with USING
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT a, r.id, u.b
FROM r
FULL JOIN u USING (a)
---- plan
Project coalesce(a, a_2) as a, id, b_2 as b  [linear]
  UnionAll  [linear]
    Project id, a, a_2, b_2  [linear]
      LeftJoin a = a_2  [keyed]
        Scan r (id, a)  [linear]
        Scan u (a as a_2, b as b_2)  [linear]
    Project CAST(NULL AS INT) as id, CAST(NULL AS INT) as a, a_2, b_2  [linear]
      Existence anti a_2 = a  [keyed]
        Scan u (a as a_2, b as b_2)  [linear]
        Scan r (id, a)  [linear]
---- delta plan
Net
  Project coalesce(a, a_2) as a, id, b_2 as b  [linear]
    UnionAll  [linear]
      Project id, a, a_2, b_2  [linear]
        Net
          Sum
            LeftJoin a = a_2  [keyed]
              Net (#1)
                Scan changes.r (id, a)  [linear]
              Restrict a_2 <=> key a_2 (#2)
                Scan after.u (a as a_2, b as b_2)  [linear]
                Keys a_2 (#3)
                  Sum
                    Project a as a_2  [linear]
                      #1
                    Project a as a_2  [linear]
                      Restrict a <=> key a_2 (#4)
                        Scan before.r (id, a)  [linear]
                        Keys a_2
                          Scan changes.u (a as a_2, b as b_2)  [linear]
            LeftJoin a = a_2  [keyed]
              #4
              #2
            Negate
              LeftJoin a = a_2  [keyed]
                #4
                Restrict a_2 <=> key a_2
                  Scan before.u (a as a_2, b as b_2)  [linear]
                  #3
      Project CAST(NULL AS INT) as id, CAST(NULL AS INT) as a, a_2, b_2  [linear]
        Net
          Sum
            Existence anti a_2 = a  [keyed]
              Scan changes.u (a as a_2, b as b_2)  [linear]
              Restrict a <=> key a (#5)
                Scan after.r (id, a)  [linear]
                Keys a (#6)
                  Sum
                    Project a_2 as a  [linear]
                      Scan changes.u (a as a_2, b as b_2)  [linear]
                    Project a_2 as a  [linear]
                      Restrict a_2 <=> key a (#7)
                        Scan before.u (a as a_2, b as b_2)  [linear]
                        Keys a
                          #1
            Existence anti a_2 = a  [keyed]
              #7
              #5
            Negate
              Existence anti a_2 = a  [keyed]
                #7
                Restrict a <=> key a
                  Scan before.r (id, a)  [linear]
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
), `__st_keys_1` AS (
  SELECT DISTINCT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`,
      `__st_weight`
    FROM `changes`.`u`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
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
    ON `t`.`a` = `k`.`a_2`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
    UNION ALL
    SELECT
      `a_2`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
), `__st_step_2` AS (
  SELECT
    `t`.`a_2`,
    `t`.`b_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`
    FROM `after`.`u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a_2` = `k`.`a_2`
), `__st_net_2` AS (
  SELECT
    `id`,
    `a`,
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `a_2`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `l`.`id`,
        `l`.`a`,
        `r`.`a_2`,
        `r`.`b_2`,
        `l`.`__st_weight`
      FROM `__st_net_1` AS `l`
      LEFT JOIN `__st_step_2` AS `r`
        ON `a` = `a_2`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_2`,
        `b_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`b_2`
        FROM `__st_step_1` AS `l`
        LEFT JOIN `__st_step_2` AS `r`
          ON `a` = `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_2`,
        `b_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`b_2`
        FROM `__st_step_1` AS `l`
        LEFT JOIN (
          SELECT
            `t`.`a_2`,
            `t`.`b_2`
          FROM (
            SELECT
              `a` AS `a_2`,
              `b` AS `b_2`
            FROM `before`.`u`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`a_2` = `k`.`a_2`
        ) AS `r`
          ON `a` = `a_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `a_2`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_3` AS (
  SELECT DISTINCT
    `a`
  FROM `__st_net_1` AS `t`
  WHERE
    NOT `a` IS NULL
), `__st_step_3` AS (
  SELECT
    `t`.`a_2`,
    `t`.`b_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`
    FROM `before`.`u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_3` AS `k`
    ON `t`.`a_2` = `k`.`a`
), `__st_keys_4` AS (
  SELECT DISTINCT
    `a`
  FROM (
    SELECT
      `a_2` AS `a`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `b` AS `b_2`,
        `__st_weight`
      FROM `changes`.`u`
    ) AS `t`
    UNION ALL
    SELECT
      `a`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_2` AS `a`
      FROM `__st_step_3` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `a` IS NULL
), `__st_step_4` AS (
  SELECT
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `after`.`r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_4` AS `k`
    ON `t`.`a` = `k`.`a`
), `__st_net_3` AS (
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
        `__st_weight`
      FROM (
        SELECT
          `l`.`a_2`,
          `l`.`b_2`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`,
            `__st_weight`
          FROM `changes`.`u`
        ) AS `l`
        LEFT ANTI JOIN `__st_step_4` AS `r`
          ON `a_2` = `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`a_2`,
          `l`.`b_2`
        FROM `__st_step_3` AS `l`
        LEFT ANTI JOIN `__st_step_4` AS `r`
          ON `a_2` = `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`a_2`,
          `l`.`b_2`
        FROM `__st_step_3` AS `l`
        LEFT ANTI JOIN (
          SELECT
            `t`.`id`,
            `t`.`a`
          FROM (
            SELECT
              `id`,
              `a`
            FROM `before`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_4` AS `k`
            ON `t`.`a` = `k`.`a`
        ) AS `r`
          ON `a_2` = `a`
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
  `id`,
  `b`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `id`,
    `b`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      coalesce(`a`, `a_2`) AS `a`,
      `id`,
      `b_2` AS `b`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `a_2`,
        `b_2`,
        `__st_weight`
      FROM `__st_net_2` AS `t`
      UNION ALL
      SELECT
        CAST(NULL AS INT) AS `id`,
        CAST(NULL AS INT) AS `a`,
        `a_2`,
        `b_2`,
        `__st_weight`
      FROM `__st_net_3` AS `t`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `id`,
    `b`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a int, id int, b int
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`,
      `__st_weight`
    FROM `__st_changes_u`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
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
    ON `t`.`a` = `k`.`a_2`
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
    ON `t`.`a` = `k`.`a_2`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
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
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_2`,
  `t`.`b_2`
FROM (
  SELECT
    `a` AS `a_2`,
    `b` AS `b_2`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`a_2` = `k`.`a_2`
-- step __st_terms_2
WITH `__st_keys_3` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
  WHERE
    NOT `a` IS NULL
)
SELECT
  `a_2`,
  `b_2`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`a_2`,
    `t`.`b_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`
    FROM `__st_after_u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_3` AS `k`
    ON `t`.`a_2` = `k`.`a`
) AS `t`
UNION ALL
SELECT
  `a_2`,
  `b_2`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`a_2`,
    `t`.`b_2`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `a` AS `a_2`,
      `b` AS `b_2`,
      `__st_weight`
    FROM `__st_changes_u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_3` AS `k`
    ON `t`.`a_2` = `k`.`a`
) AS `t`
-- step __st_step_2
WITH `__st_keys_4` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `a_2` AS `a`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
    UNION ALL
    SELECT
      `a_2` AS `a`,
      `__st_weight`
    FROM `__st_terms_2` AS `t`
  ) AS `t`
  WHERE
    NOT `a` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`a`
FROM (
  SELECT
    `id`,
    `a`
  FROM `__st_after_r`
) AS `t`
LEFT SEMI JOIN `__st_keys_4` AS `k`
  ON `t`.`a` = `k`.`a`
-- answer
WITH `__st_keys_2` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
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
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
), `__st_net_1` AS (
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
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`a_2`,
          `t`.`b_2`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`,
            `__st_weight`
          FROM `__st_changes_u`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_2` AS `k`
          ON `t`.`a_2` = `k`.`a_2`
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
    `id`,
    `a`,
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `a_2`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`r`) */
        `l`.`id`,
        `l`.`a`,
        `r`.`a_2`,
        `r`.`b_2`,
        `l`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `__st_weight`
        FROM `__st_changes_r`
      ) AS `l`
      LEFT JOIN `__st_step_1` AS `r`
        ON `a` = `a_2`
      UNION ALL
      SELECT /*+ BROADCAST(`r`) */
        `l`.`id`,
        `l`.`a`,
        `r`.`a_2`,
        `r`.`b_2`,
        `l`.`__st_weight`
      FROM `__st_terms_1` AS `l`
      LEFT JOIN `__st_step_1` AS `r`
        ON `a` = `a_2`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_2`,
        `b_2`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`b_2`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN (
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
        ) AS `r`
          ON `a` = `a_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `a_2`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_4` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `a_2` AS `a`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
    UNION ALL
    SELECT
      `a_2` AS `a`,
      `__st_weight`
    FROM `__st_terms_2` AS `t`
  ) AS `t`
  WHERE
    NOT `a` IS NULL
), `__st_net_3` AS (
  SELECT
    `a`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a`
        FROM `__st_step_2` AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        `__st_weight`
      FROM (
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
          LEFT SEMI JOIN `__st_keys_4` AS `k`
            ON `t`.`a` = `k`.`a`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_4` AS (
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
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`a_2`,
          `l`.`b_2`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `a` AS `a_2`,
            `b` AS `b_2`,
            `__st_weight`
          FROM `__st_changes_u`
        ) AS `l`
        LEFT ANTI JOIN `__st_step_2` AS `r`
          ON `a_2` = `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`a_2`,
          `l`.`b_2`,
          `l`.`__st_weight`
        FROM `__st_terms_2` AS `l`
        LEFT ANTI JOIN `__st_step_2` AS `r`
          ON `a_2` = `a`
      ) AS `t`
      UNION ALL
      SELECT
        `a_2`,
        `b_2`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`a_2`,
          `l`.`b_2`,
          `l`.`__st_weight`
        FROM `__st_terms_2` AS `l`
        LEFT ANTI JOIN (
          SELECT
            `a`
          FROM (
            SELECT
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
        ) AS `r`
          ON `a_2` = `a`
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
  coalesce(`a`, `a_2`) AS `a`,
  `id`,
  `b_2` AS `b`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `a`,
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM `__st_net_2` AS `t`
  UNION ALL
  SELECT
    CAST(NULL AS INT) AS `id`,
    CAST(NULL AS INT) AS `a`,
    `a_2`,
    `b_2`,
    `__st_weight`
  FROM `__st_net_4` AS `t`
) AS `t`
-- found: __st_old_1_2_r(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_found_1_2_r(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_old_1_2_u(a, b) where a in (__st_changes_r.a)
-- found: __st_old_1_1_u(a, b) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_found_1_1_u(a, b) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_old_1_1_r(id, a) where a in (__st_changes_u.a)
