-- title: a recursion is computed before and after
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
WITH RECURSIVE p(a, b, d) AS (
  SELECT a, b, 1 FROM u
  UNION ALL
  SELECT p.a, u.b, p.d + 1 FROM p JOIN u ON u.a = p.b WHERE p.d < 3
)
SELECT a, b, d FROM p
---- plan
Project a_3 as a, b_3 as b, d  [linear]
  Recursive  [whole]
    Project a as a_3, b as b_3, 1 as d  [linear]
      Scan u (a, b)  [linear]
    Project a_4 as a_3, b_5 as b_3, d_2 + 1 as d  [linear]
      InnerJoin a_5 = b_4  [multilinear]
        Filter d_2 < 3  [linear]
          Project a_3 as a_4, b_3 as b_4, d as d_2  [linear]
            Itself
        Scan u (a as a_5, b as b_5)  [linear]
---- delta plan
Net
  Project a_3 as a, b_3 as b, d  [linear]
    Net
      OneSided
        Recursive  [whole]
          UnionAll  [linear]
            Project a_3, b_3, d, CAST(0 AS BIGINT) as __st_side  [linear]
              Existence anti a_3 IS NOT DISTINCT FROM __st_changed_a_3 and b_3 IS NOT DISTINCT FROM __st_changed_b_3 and d IS NOT DISTINCT FROM __st_changed_d  [keyed]
                Project a as a_3, b as b_3, 1 as d  [linear]
                  Scan after.u (a, b)  [linear]
                Keys __st_changed_a_3, __st_changed_b_3, __st_changed_d (#1)
                  Project a_3 as __st_changed_a_3, b_3 as __st_changed_b_3, d as __st_changed_d  [linear]
                    Net (#2)
                      Project a as a_3, b as b_3, 1 as d  [linear]
                        Scan changes.u (a, b)  [linear]
            Project a_3, b_3, d, CAST(1 AS BIGINT) as __st_side  [linear]
              Restrict a_3 <=> key __st_changed_a_3 and b_3 <=> key __st_changed_b_3 and d <=> key __st_changed_d (#3)
                Project a as a_3, b as b_3, 1 as d  [linear]
                  Restrict a <=> key __st_changed_a_3 and b <=> key __st_changed_b_3
                    Scan after.u (a, b)  [linear]
                    #1
                #1
            Project a_3, b_3, d, CAST(-1 AS BIGINT) as __st_side  [linear]
              Repeat weights are positive
                Net
                  Sum
                    #3
                    Negate
                      #2
          Project a_4 as a_3, b_5 as b_3, d_2 + 1 as d, __st_side  [linear]
            Project a_4, b_4, d_2, a_5, b_5, IF(greatest(__st_side, __st_side_1) > CAST(0 AS BIGINT), CAST(1 AS BIGINT), least(__st_side, __st_side_1)) as __st_side  [linear]
              InnerJoin a_5 = b_4 and least(__st_side, __st_side_1) * greatest(__st_side, __st_side_1) >= CAST(0 AS BIGINT)  [multilinear]
                Filter d_2 < 3  [linear]
                  Project a_3 as a_4, b_3 as b_4, d as d_2, __st_side  [linear]
                    Itself
                UnionAll  [linear]
                  Project a_5, b_5, CAST(0 AS BIGINT) as __st_side_1  [linear]
                    Existence anti a_5 IS NOT DISTINCT FROM __st_changed_a_5 and b_5 IS NOT DISTINCT FROM __st_changed_b_5  [keyed]
                      Scan after.u (a as a_5, b as b_5)  [linear]
                      Keys __st_changed_a_5, __st_changed_b_5 (#4)
                        Project a_5 as __st_changed_a_5, b_5 as __st_changed_b_5  [linear]
                          Net (#5)
                            Scan changes.u (a as a_5, b as b_5)  [linear]
                  Project a_5, b_5, CAST(1 AS BIGINT) as __st_side_1  [linear]
                    Restrict a_5 <=> key __st_changed_a_5 and b_5 <=> key __st_changed_b_5 (#6)
                      Scan after.u (a as a_5, b as b_5)  [linear]
                      #4
                  Project a_5, b_5, CAST(-1 AS BIGINT) as __st_side_1  [linear]
                    Repeat weights are positive
                      Net
                        Sum
                          #6
                          Negate
                            #5
---- delta sql (spark)
WITH RECURSIVE `__st_net_1` AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_3`,
        `b` AS `b_3`,
        1 AS `d`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          `b`,
          `__st_weight`
        FROM `changes`.`u`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`,
      `b_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `__st_changed_a_3`,
    `__st_changed_b_3`,
    `__st_changed_d`
  FROM (
    SELECT
      `a_3` AS `__st_changed_a_3`,
      `b_3` AS `__st_changed_b_3`,
      `d` AS `__st_changed_d`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
), `__st_step_1` AS (
  SELECT
    `t`.`a_3`,
    `t`.`b_3`,
    `t`.`d`
  FROM (
    SELECT
      `a` AS `a_3`,
      `b` AS `b_3`,
      1 AS `d`
    FROM (
      SELECT
        `t`.`a`,
        `t`.`b`
      FROM (
        SELECT
          `a`,
          `b`
        FROM `after`.`u`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_1` AS `k`
        ON `t`.`a` IS NOT DISTINCT FROM `k`.`__st_changed_a_3`
        AND `t`.`b` IS NOT DISTINCT FROM `k`.`__st_changed_b_3`
    ) AS `t`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`__st_changed_a_3`
    AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`__st_changed_b_3`
    AND `t`.`d` IS NOT DISTINCT FROM `k`.`__st_changed_d`
), `__st_net_2` AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        -`__st_weight` AS `__st_weight`
      FROM `__st_net_1` AS `t`
    ) AS `t`
    GROUP BY
      `a_3`,
      `b_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_3` AS (
  SELECT
    `a_5`,
    `b_5`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM `changes`.`u`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `__st_changed_a_5`,
    `__st_changed_b_5`
  FROM (
    SELECT
      `a_5` AS `__st_changed_a_5`,
      `b_5` AS `__st_changed_b_5`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
), `__st_step_2` AS (
  SELECT
    `t`.`a_5`,
    `t`.`b_5`
  FROM (
    SELECT
      `a` AS `a_5`,
      `b` AS `b_5`
    FROM `after`.`u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a_5` IS NOT DISTINCT FROM `k`.`__st_changed_a_5`
    AND `t`.`b_5` IS NOT DISTINCT FROM `k`.`__st_changed_b_5`
), `__st_net_4` AS (
  SELECT
    `a_5`,
    `b_5`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `b_5`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_2` AS `t`
      UNION ALL
      SELECT
        `a_5`,
        `b_5`,
        -`__st_weight` AS `__st_weight`
      FROM `__st_net_3` AS `t`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_p_1`(`a_3`, `b_3`, `d`, `__st_side`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_side`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(0 AS BIGINT) AS `__st_side`
    FROM (
      SELECT
        `l`.`a_3`,
        `l`.`b_3`,
        `l`.`d`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          1 AS `d`
        FROM (
          SELECT
            `a`,
            `b`
          FROM `after`.`u`
        ) AS `t`
      ) AS `l`
      LEFT ANTI JOIN `__st_keys_1` AS `r`
        ON `a_3` IS NOT DISTINCT FROM `__st_changed_a_3`
        AND `b_3` IS NOT DISTINCT FROM `__st_changed_b_3`
        AND `d` IS NOT DISTINCT FROM `__st_changed_d`
    ) AS `t`
    UNION ALL
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(1 AS BIGINT) AS `__st_side`
    FROM `__st_step_1` AS `t`
    UNION ALL
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(-1 AS BIGINT) AS `__st_side`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`,
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
        FROM `__st_net_2` AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_side`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`,
      `__st_side`
    FROM (
      SELECT
        `a_4`,
        `b_4`,
        `d_2`,
        `a_5`,
        `b_5`,
        IF(
          greatest(`__st_side`, `__st_side_1`) > CAST(0 AS BIGINT),
          CAST(1 AS BIGINT),
          least(`__st_side`, `__st_side_1`)
        ) AS `__st_side`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`,
          `__st_side`,
          `a_5`,
          `b_5`,
          `__st_side_1`
        FROM (
          SELECT
            `a_4`,
            `b_4`,
            `d_2`,
            `__st_side`
          FROM (
            SELECT
              `a_3` AS `a_4`,
              `b_3` AS `b_4`,
              `d` AS `d_2`,
              `__st_side`
            FROM (
              SELECT
                `a_3`,
                `b_3`,
                `d`,
                `__st_side`
              FROM `__st_p_1`
            ) AS `t`
          ) AS `t`
          WHERE
            `d_2` < 3
        ) AS `t1`
        JOIN (
          SELECT
            `a_5`,
            `b_5`,
            CAST(0 AS BIGINT) AS `__st_side_1`
          FROM (
            SELECT
              `l`.`a_5`,
              `l`.`b_5`
            FROM (
              SELECT
                `a` AS `a_5`,
                `b` AS `b_5`
              FROM `after`.`u`
            ) AS `l`
            LEFT ANTI JOIN `__st_keys_2` AS `r`
              ON `a_5` IS NOT DISTINCT FROM `__st_changed_a_5`
              AND `b_5` IS NOT DISTINCT FROM `__st_changed_b_5`
          ) AS `t`
          UNION ALL
          SELECT
            `a_5`,
            `b_5`,
            CAST(1 AS BIGINT) AS `__st_side_1`
          FROM `__st_step_2` AS `t`
          UNION ALL
          SELECT
            `a_5`,
            `b_5`,
            CAST(-1 AS BIGINT) AS `__st_side_1`
          FROM (
            SELECT
              `a_5`,
              `b_5`
            FROM (
              SELECT
                `a_5`,
                `b_5`,
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
              FROM `__st_net_4` AS `t`
              WHERE
                `__st_weight` <> 0
            ) AS `s`
          ) AS `t`
        ) AS `t2`
          ON `a_5` = `b_4`
          AND least(`__st_side`, `__st_side_1`) * greatest(`__st_side`, `__st_side_1`) >= CAST(0 AS BIGINT)
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_5` AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        `__st_side` AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`,
          `__st_side`
        FROM `__st_p_1`
      ) AS `t`
      WHERE
        `__st_side` <> 0
    ) AS `t`
    GROUP BY
      `a_3`,
      `b_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `b`,
  `d`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `b`,
    `d`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_3` AS `a`,
      `b_3` AS `b`,
      `d`,
      `__st_weight`
    FROM `__st_net_5` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `b`,
    `d`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a int, b int, d int
-- step __st_step_2
WITH `__st_step_1` AS (
  SELECT
    `a` AS `a_3`,
    `b` AS `b_3`,
    1 AS `d`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_u`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT DISTINCT
    `__st_changed_a_3`,
    `__st_changed_b_3`,
    `__st_changed_d`
  FROM (
    SELECT
      `a_3` AS `__st_changed_a_3`,
      `b_3` AS `__st_changed_b_3`,
      `d` AS `__st_changed_d`,
      `__st_weight`
    FROM `__st_step_1` AS `t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_3`,
  `t`.`b_3`,
  `t`.`d`
FROM (
  SELECT
    `a` AS `a_3`,
    `b` AS `b_3`,
    1 AS `d`
  FROM (
    SELECT /*+ BROADCAST(`k`) */
      `t`.`a`,
      `t`.`b`
    FROM (
      SELECT
        `a`,
        `b`
      FROM `__st_after_u`
    ) AS `t`
    LEFT SEMI JOIN `__st_keys_1` AS `k`
      ON `t`.`a` IS NOT DISTINCT FROM `k`.`__st_changed_a_3`
      AND `t`.`b` IS NOT DISTINCT FROM `k`.`__st_changed_b_3`
  ) AS `t`
) AS `t`
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`a_3` IS NOT DISTINCT FROM `k`.`__st_changed_a_3`
  AND `t`.`b_3` IS NOT DISTINCT FROM `k`.`__st_changed_b_3`
  AND `t`.`d` IS NOT DISTINCT FROM `k`.`__st_changed_d`
-- step __st_step_3
WITH `__st_keys_2` AS (
  SELECT DISTINCT
    `__st_changed_a_5`,
    `__st_changed_b_5`
  FROM (
    SELECT
      `a_5` AS `__st_changed_a_5`,
      `b_5` AS `__st_changed_b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_5`,
  `t`.`b_5`
FROM (
  SELECT
    `a` AS `a_5`,
    `b` AS `b_5`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`a_5` IS NOT DISTINCT FROM `k`.`__st_changed_a_5`
  AND `t`.`b_5` IS NOT DISTINCT FROM `k`.`__st_changed_b_5`
-- answer
WITH RECURSIVE `__st_step_1` AS (
  SELECT
    `a` AS `a_3`,
    `b` AS `b_3`,
    1 AS `d`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_u`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT DISTINCT
    `__st_changed_a_3`,
    `__st_changed_b_3`,
    `__st_changed_d`
  FROM (
    SELECT
      `a_3` AS `__st_changed_a_3`,
      `b_3` AS `__st_changed_b_3`,
      `d` AS `__st_changed_d`,
      `__st_weight`
    FROM `__st_step_1` AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_2` AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        -`__st_weight` AS `__st_weight`
      FROM `__st_step_1` AS `t`
    ) AS `t`
    GROUP BY
      `a_3`,
      `b_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `__st_changed_a_5`,
    `__st_changed_b_5`
  FROM (
    SELECT
      `a_5` AS `__st_changed_a_5`,
      `b_5` AS `__st_changed_b_5`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`,
        `b` AS `b_5`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `a_5`,
    `b_5`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `b_5`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `b_5`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_3` AS `t`
      UNION ALL
      SELECT
        `a_5`,
        `b_5`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_5`,
      `b_5`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_p_1`(`a_3`, `b_3`, `d`, `__st_side`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_side`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(0 AS BIGINT) AS `__st_side`
    FROM (
      SELECT /*+ BROADCAST(`r`) */
        `l`.`a_3`,
        `l`.`b_3`,
        `l`.`d`
      FROM (
        SELECT
          `a` AS `a_3`,
          `b` AS `b_3`,
          1 AS `d`
        FROM (
          SELECT
            `a`,
            `b`
          FROM `__st_after_u`
        ) AS `t`
      ) AS `l`
      LEFT ANTI JOIN `__st_keys_1` AS `r`
        ON `a_3` IS NOT DISTINCT FROM `__st_changed_a_3`
        AND `b_3` IS NOT DISTINCT FROM `__st_changed_b_3`
        AND `d` IS NOT DISTINCT FROM `__st_changed_d`
    ) AS `t`
    UNION ALL
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(1 AS BIGINT) AS `__st_side`
    FROM `__st_step_2` AS `t`
    UNION ALL
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(-1 AS BIGINT) AS `__st_side`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`,
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
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_side`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`,
      `__st_side`
    FROM (
      SELECT
        `a_4`,
        `d_2`,
        `b_5`,
        IF(
          greatest(`__st_side`, `__st_side_1`) > CAST(0 AS BIGINT),
          CAST(1 AS BIGINT),
          least(`__st_side`, `__st_side_1`)
        ) AS `__st_side`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`,
          `__st_side`,
          `a_5`,
          `b_5`,
          `__st_side_1`
        FROM (
          SELECT
            `a_4`,
            `b_4`,
            `d_2`,
            `__st_side`
          FROM (
            SELECT
              `a_3` AS `a_4`,
              `b_3` AS `b_4`,
              `d` AS `d_2`,
              `__st_side`
            FROM (
              SELECT
                `a_3`,
                `b_3`,
                `d`,
                `__st_side`
              FROM `__st_p_1`
            ) AS `t`
          ) AS `t`
          WHERE
            `d_2` < 3
        ) AS `t1`
        JOIN (
          SELECT
            `a_5`,
            `b_5`,
            CAST(0 AS BIGINT) AS `__st_side_1`
          FROM (
            SELECT /*+ BROADCAST(`r`) */
              `l`.`a_5`,
              `l`.`b_5`
            FROM (
              SELECT
                `a` AS `a_5`,
                `b` AS `b_5`
              FROM `__st_after_u`
            ) AS `l`
            LEFT ANTI JOIN `__st_keys_2` AS `r`
              ON `a_5` IS NOT DISTINCT FROM `__st_changed_a_5`
              AND `b_5` IS NOT DISTINCT FROM `__st_changed_b_5`
          ) AS `t`
          UNION ALL
          SELECT
            `a_5`,
            `b_5`,
            CAST(1 AS BIGINT) AS `__st_side_1`
          FROM `__st_step_3` AS `t`
          UNION ALL
          SELECT
            `a_5`,
            `b_5`,
            CAST(-1 AS BIGINT) AS `__st_side_1`
          FROM (
            SELECT
              `a_5`,
              `b_5`
            FROM (
              SELECT
                `a_5`,
                `b_5`,
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
              FROM `__st_net_2` AS `t`
              WHERE
                `__st_weight` <> 0
            ) AS `s`
          ) AS `t`
        ) AS `t2`
          ON `a_5` = `b_4`
          AND least(`__st_side`, `__st_side_1`) * greatest(`__st_side`, `__st_side_1`) >= CAST(0 AS BIGINT)
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `b_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        `__st_side` AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`,
          `__st_side`
        FROM `__st_p_1`
      ) AS `t`
      WHERE
        `__st_side` <> 0
    ) AS `t`
    GROUP BY
      `a_3`,
      `b_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `b`,
  `d`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `b`,
    `d`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_3` AS `a`,
      `b_3` AS `b`,
      `d`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `b`,
    `d`
) AS `s`
WHERE
  `__st_weight` <> 0
-- found: __st_found_1_1_u(a, b) where a in (__st_changes_u.a) and b in (__st_changes_u.b)
