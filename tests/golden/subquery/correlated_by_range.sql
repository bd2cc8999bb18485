-- title: a correlation without an equality goes over the distinct outer values
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id, (SELECT max(b) FROM u WHERE u.a < r.a) AS m
FROM r
---- plan
Project id, scalar as m  [linear]
  LeftJoin a IS NOT DISTINCT FROM a_5  [keyed]
    Scan r (id, a)  [linear]
    Project a_5, CASE WHEN rows > 1 THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT) ELSE only END as scalar  [linear]
      Aggregate by a_5: any_value(max_b) as only, count(*) as rows  [keyed]
        Project max as max_b, a_5  [linear]
          LeftJoin a_5 IS NOT DISTINCT FROM a_4  [keyed]
            Project a_3 as a_5  [linear]
              Distinct (#1)  [keyed]
                Project a as a_3  [linear]
                  Scan r (id, a)  [linear]
            Aggregate by a_4: max(b_2) as max  [keyed]
              Filter a_2 < a_4  [linear]
                InnerJoin every pair  [multilinear]
                  Project a_3 as a_4  [linear]
                    #1
                  Scan u (a as a_2, b as b_2)  [linear]
---- delta plan
Net
  Project id, scalar as m  [linear]
    Net
      Sum
        LeftJoin a IS NOT DISTINCT FROM a_5  [keyed]
          Net (#1)
            Scan changes.r (id, a)  [linear]
          Project a_5, CASE WHEN rows > 1 THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT) ELSE only END as scalar (#2)  [linear]
            Aggregate by a_5: any_value(max_b) as only, count(*) as rows  [keyed]
              Project max as max_b, a_5  [linear]
                LeftJoin a_5 IS NOT DISTINCT FROM a_4  [keyed]
                  Project a_3 as a_5  [linear]
                    Distinct (#3)  [keyed]
                      Project a as a_3  [linear]
                        Restrict a <=> key a_5
                          Scan after.r (id, a)  [linear]
                          Keys a_5 (#4)
                            Sum
                              Project a as a_5  [linear]
                                #1
                              Project a as a_5  [linear]
                                Restrict a <=> key a_5 (#5)
                                  Scan before.r (id, a)  [linear]
                                  Keys a_5
                                    Project a_5  [linear]
                                      Project a_5  [linear]
                                        Sum
                                          Project a_5  [linear]
                                            Project a_3 as a_5  [linear]
                                              Project a as a_3 (#6)  [linear]
                                                #1
                                          Project a_4 as a_5  [linear]
                                            Filter a_2 < a_4  [linear]
                                              Sum
                                                InnerJoin every pair  [multilinear]
                                                  Project a_3 as a_4  [linear]
                                                    Net
                                                      Sum
                                                        Distinct  [keyed]
                                                          Project a as a_3  [linear]
                                                            Restrict a <=> key a_3
                                                              Scan after.r (id, a)  [linear]
                                                              Keys a_3 (#7)
                                                                #6
                                                        Negate
                                                          Distinct  [keyed]
                                                            Project a as a_3  [linear]
                                                              Restrict a <=> key a_3
                                                                Scan before.r (id, a)  [linear]
                                                                #7
                                                  Scan after.u (a as a_2, b as b_2)  [linear]
                                                InnerJoin every pair  [multilinear]
                                                  Project a_3 as a_4  [linear]
                                                    Distinct  [keyed]
                                                      Project a as a_3  [linear]
                                                        Scan before.r (id, a)  [linear]
                                                  Scan changes.u (a as a_2, b as b_2)  [linear]
                  Aggregate by a_4: max(b_2) as max  [keyed]
                    Filter a_2 < a_4  [linear]
                      InnerJoin every pair  [multilinear]
                        Project a_3 as a_4  [linear]
                          #3
                        Scan after.u (a as a_2, b as b_2)  [linear]
        LeftJoin a IS NOT DISTINCT FROM a_5  [keyed]
          #5
          #2
        Negate
          LeftJoin a IS NOT DISTINCT FROM a_5  [keyed]
            #5
            Project a_5, CASE WHEN rows > 1 THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT) ELSE only END as scalar  [linear]
              Aggregate by a_5: any_value(max_b) as only, count(*) as rows  [keyed]
                Project max as max_b, a_5  [linear]
                  LeftJoin a_5 IS NOT DISTINCT FROM a_4  [keyed]
                    Project a_3 as a_5  [linear]
                      Distinct (#8)  [keyed]
                        Project a as a_3  [linear]
                          Restrict a <=> key a_5
                            Scan before.r (id, a)  [linear]
                            #4
                    Aggregate by a_4: max(b_2) as max  [keyed]
                      Filter a_2 < a_4  [linear]
                        InnerJoin every pair  [multilinear]
                          Project a_3 as a_4  [linear]
                            #8
                          Scan before.u (a as a_2, b as b_2)  [linear]
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
), `__st_step_1` AS (
  SELECT
    `a` AS `a_3`,
    `__st_weight`
  FROM `__st_net_1` AS `t`
), `__st_keys_1` AS (
  SELECT DISTINCT
    `a_3`
  FROM `__st_step_1` AS `t`
), `__st_net_2` AS (
  SELECT
    `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `a_3`
        FROM (
          SELECT
            `a` AS `a_3`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`a`
            FROM (
              SELECT
                `id`,
                `a`
              FROM `after`.`r`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_3`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `a_3`
        FROM (
          SELECT
            `a` AS `a_3`
          FROM (
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
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_3`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `a_5`
  FROM (
    SELECT
      `a_5`,
      `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `__st_weight`
      FROM (
        SELECT
          `a_5`,
          `__st_weight`
        FROM (
          SELECT
            `a_3` AS `a_5`,
            `__st_weight`
          FROM `__st_step_1` AS `t`
        ) AS `t`
        UNION ALL
        SELECT
          `a_4` AS `a_5`,
          `__st_weight`
        FROM (
          SELECT
            `a_4`,
            `a_2`,
            `b_2`,
            `__st_weight`
          FROM (
            SELECT
              `a_4`,
              `a_2`,
              `b_2`,
              `t1`.`__st_weight`
            FROM (
              SELECT
                `a_3` AS `a_4`,
                `__st_weight`
              FROM `__st_net_2` AS `t`
            ) AS `t1`
            CROSS JOIN (
              SELECT
                `a` AS `a_2`,
                `b` AS `b_2`
              FROM `after`.`u`
            ) AS `t2`
            UNION ALL
            SELECT
              `a_4`,
              `a_2`,
              `b_2`,
              `t1`.`__st_weight`
            FROM (
              SELECT
                `a` AS `a_2`,
                `b` AS `b_2`,
                `__st_weight`
              FROM `changes`.`u`
            ) AS `t1`
            CROSS JOIN (
              SELECT
                `a_3` AS `a_4`
              FROM (
                SELECT DISTINCT
                  `a_3`
                FROM (
                  SELECT
                    `a` AS `a_3`
                  FROM (
                    SELECT
                      `id`,
                      `a`
                    FROM `before`.`r`
                  ) AS `t`
                ) AS `t`
              ) AS `t`
            ) AS `t2`
          ) AS `t`
          WHERE
            `a_2` < `a_4`
        ) AS `t`
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_step_2` AS (
  SELECT
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `before`.`r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
), `__st_keys_3` AS (
  SELECT DISTINCT
    `a_5`
  FROM (
    SELECT
      `a` AS `a_5`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
    UNION ALL
    SELECT
      `a_5`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_5`
      FROM `__st_step_2` AS `t`
    ) AS `t`
  ) AS `t`
), `__st_distinct_rows_1` AS (
  SELECT DISTINCT
    `a_3`
  FROM (
    SELECT
      `a` AS `a_3`
    FROM (
      SELECT
        `t`.`id`,
        `t`.`a`
      FROM (
        SELECT
          `id`,
          `a`
        FROM `after`.`r`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_3` AS `k`
        ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
    ) AS `t`
  ) AS `t`
), `__st_step_3` AS (
  SELECT
    `a_5`,
    CASE
      WHEN `rows` > 1
      THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT)
      ELSE `only`
    END AS `scalar`
  FROM (
    SELECT
      `a_5`,
      any_value(`max_b`) AS `only`,
      count(*) AS `rows`
    FROM (
      SELECT
        `max` AS `max_b`,
        `a_5`
      FROM (
        SELECT
          `l`.`a_5`,
          `r`.`a_4`,
          `r`.`max`
        FROM (
          SELECT
            `a_3` AS `a_5`
          FROM `__st_distinct_rows_1` AS `t`
        ) AS `l`
        LEFT JOIN (
          SELECT
            `a_4`,
            max(`b_2`) AS `max`
          FROM (
            SELECT
              `a_4`,
              `a_2`,
              `b_2`
            FROM (
              SELECT
                `a_4`,
                `a_2`,
                `b_2`
              FROM (
                SELECT
                  `a_3` AS `a_4`
                FROM `__st_distinct_rows_1` AS `t`
              ) AS `t1`
              CROSS JOIN (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`
                FROM `after`.`u`
              ) AS `t2`
            ) AS `t`
            WHERE
              `a_2` < `a_4`
          ) AS `t`
          GROUP BY
            `a_4`
        ) AS `r`
          ON `a_5` IS NOT DISTINCT FROM `a_4`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_5`
  ) AS `t`
), `__st_distinct_rows_2` AS (
  SELECT DISTINCT
    `a_3`
  FROM (
    SELECT
      `a` AS `a_3`
    FROM (
      SELECT
        `t`.`id`,
        `t`.`a`
      FROM (
        SELECT
          `id`,
          `a`
        FROM `before`.`r`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_3` AS `k`
        ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
    ) AS `t`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `id`,
    `a`,
    `a_5`,
    `scalar`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `a_5`,
      `scalar`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `l`.`id`,
        `l`.`a`,
        `r`.`a_5`,
        `r`.`scalar`,
        `l`.`__st_weight`
      FROM `__st_net_1` AS `l`
      LEFT JOIN `__st_step_3` AS `r`
        ON `a` IS NOT DISTINCT FROM `a_5`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_5`,
        `scalar`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_5`,
          `r`.`scalar`
        FROM `__st_step_2` AS `l`
        LEFT JOIN `__st_step_3` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_5`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_5`,
        `scalar`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_5`,
          `r`.`scalar`
        FROM `__st_step_2` AS `l`
        LEFT JOIN (
          SELECT
            `a_5`,
            CASE
              WHEN `rows` > 1
              THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT)
              ELSE `only`
            END AS `scalar`
          FROM (
            SELECT
              `a_5`,
              any_value(`max_b`) AS `only`,
              count(*) AS `rows`
            FROM (
              SELECT
                `max` AS `max_b`,
                `a_5`
              FROM (
                SELECT
                  `l`.`a_5`,
                  `r`.`a_4`,
                  `r`.`max`
                FROM (
                  SELECT
                    `a_3` AS `a_5`
                  FROM `__st_distinct_rows_2` AS `t`
                ) AS `l`
                LEFT JOIN (
                  SELECT
                    `a_4`,
                    max(`b_2`) AS `max`
                  FROM (
                    SELECT
                      `a_4`,
                      `a_2`,
                      `b_2`
                    FROM (
                      SELECT
                        `a_4`,
                        `a_2`,
                        `b_2`
                      FROM (
                        SELECT
                          `a_3` AS `a_4`
                        FROM `__st_distinct_rows_2` AS `t`
                      ) AS `t1`
                      CROSS JOIN (
                        SELECT
                          `a` AS `a_2`,
                          `b` AS `b_2`
                        FROM `before`.`u`
                      ) AS `t2`
                    ) AS `t`
                    WHERE
                      `a_2` < `a_4`
                  ) AS `t`
                  GROUP BY
                    `a_4`
                ) AS `r`
                  ON `a_5` IS NOT DISTINCT FROM `a_4`
              ) AS `t`
            ) AS `t`
            GROUP BY
              `a_5`
          ) AS `t`
        ) AS `r`
          ON `a` IS NOT DISTINCT FROM `a_5`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `a_5`,
      `scalar`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `m`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `m`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `scalar` AS `m`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `m`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, m int
-- step __st_step_2
WITH `__st_step_1` AS (
  SELECT
    `a` AS `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT
    `a_3`
  FROM `__st_step_1` AS `t`
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
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_3`
-- step __st_keys_2
WITH `__st_step_1` AS (
  SELECT
    `a` AS `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT
    `a_3`
  FROM `__st_step_1` AS `t`
), `__st_net_1` AS (
  SELECT
    `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_3`,
        `__st_weight`
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
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_3`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `a_3`
        FROM (
          SELECT
            `a` AS `a_3`
          FROM `__st_step_2` AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `a_3`
        FROM (
          SELECT
            `a_3`
          FROM (
            SELECT
              `a_3`,
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
    ) AS `t`
    GROUP BY
      `a_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_3` AS (
  SELECT
    `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_3`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a`
          FROM (
            SELECT
              `id`,
              `a`
            FROM `__st_after_r`
          ) AS `t`
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
            SELECT
              `id`,
              `a`,
              `__st_weight`
            FROM `__st_changes_r`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT DISTINCT
  `a_5`
FROM (
  SELECT
    `a_5`,
    `__st_weight`
  FROM (
    SELECT
      `a_5`,
      `__st_weight`
    FROM (
      SELECT
        `a_5`,
        `__st_weight`
      FROM (
        SELECT
          `a_3` AS `a_5`,
          `__st_weight`
        FROM `__st_step_1` AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `a_4` AS `a_5`,
        `__st_weight`
      FROM (
        SELECT
          `a_4`,
          `a_2`,
          `__st_weight`
        FROM (
          SELECT
            `a_4`,
            `a_2`,
            `__st_weight`
          FROM (
            SELECT
              `a_4`,
              `a_2`,
              `b_2`,
              `__st_weight`
            FROM (
              SELECT /*+ BROADCAST(`t1`) */
                `a_4`,
                `a_2`,
                `b_2`,
                `t1`.`__st_weight`
              FROM (
                SELECT
                  `a_3` AS `a_4`,
                  `__st_weight`
                FROM `__st_net_2` AS `t`
              ) AS `t1`
              CROSS JOIN (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`
                FROM `__st_after_u`
              ) AS `t2`
            ) AS `t1`
          ) AS `t`
          UNION ALL
          SELECT
            `a_4`,
            `a_2`,
            `__st_weight`
          FROM (
            SELECT
              `a_4`,
              `a_2`,
              `b_2`,
              `__st_weight`
            FROM (
              SELECT /*+ BROADCAST(`t1`) */
                `a_2`,
                `b_2`,
                `a_4`,
                `t1`.`__st_weight`
              FROM (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`,
                  `__st_weight`
                FROM `__st_changes_u`
              ) AS `t1`
              CROSS JOIN (
                SELECT
                  `a_3` AS `a_4`
                FROM (
                  SELECT DISTINCT
                    `a_3`
                  FROM (
                    SELECT
                      `a_3`
                    FROM (
                      SELECT
                        `a_3`,
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
                ) AS `t`
              ) AS `t2`
            ) AS `t1`
          ) AS `t`
        ) AS `t`
        WHERE
          `a_2` < `a_4`
      ) AS `t`
    ) AS `t`
  ) AS `t`
) AS `t`
-- step __st_terms_1
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
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
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
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
) AS `t`
-- step __st_step_3
WITH `__st_keys_3` AS (
  SELECT
    `a_5`
  FROM (
    SELECT
      `a` AS `a_5`,
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
      `a` AS `a_5`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
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
LEFT SEMI JOIN `__st_keys_3` AS `k`
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
-- step __st_step_4
WITH `__st_distinct_rows_1` AS (
  SELECT DISTINCT
    `a_3`
  FROM (
    SELECT
      `a` AS `a_3`
    FROM `__st_step_3` AS `t`
  ) AS `t`
)
SELECT
  `a_5`,
  CASE
    WHEN `rows` > 1
    THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT)
    ELSE `only`
  END AS `scalar`
FROM (
  SELECT
    `a_5`,
    any_value(`max_b`) AS `only`,
    count(*) AS `rows`
  FROM (
    SELECT
      `max` AS `max_b`,
      `a_5`
    FROM (
      SELECT /*+ BROADCAST(`r`) */
        `l`.`a_5`,
        `r`.`a_4`,
        `r`.`max`
      FROM (
        SELECT
          `a_3` AS `a_5`
        FROM `__st_distinct_rows_1` AS `t`
      ) AS `l`
      LEFT JOIN (
        SELECT
          `a_4`,
          max(`b_2`) AS `max`
        FROM (
          SELECT
            `a_4`,
            `a_2`,
            `b_2`
          FROM (
            SELECT
              `a_4`,
              `a_2`,
              `b_2`
            FROM (
              SELECT /*+ BROADCAST(`t1`) */
                `a_4`,
                `a_2`,
                `b_2`
              FROM (
                SELECT
                  `a_3` AS `a_4`
                FROM `__st_distinct_rows_1` AS `t`
              ) AS `t1`
              CROSS JOIN (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`
                FROM `__st_after_u`
              ) AS `t2`
            ) AS `t1`
          ) AS `t`
          WHERE
            `a_2` < `a_4`
        ) AS `t`
        GROUP BY
          `a_4`
      ) AS `r`
        ON `a_5` IS NOT DISTINCT FROM `a_4`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `a_5`
) AS `t`
-- step __st_distinct_rows_2
WITH `__st_keys_3` AS (
  SELECT
    `a_5`
  FROM (
    SELECT
      `a` AS `a_5`,
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
      `a` AS `a_5`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
), `__st_net_4` AS (
  SELECT
    `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_3`,
        `__st_weight`
      FROM (
        SELECT
          `a`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `a`
          FROM `__st_step_3` AS `t`
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
            LEFT SEMI JOIN `__st_keys_3` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_5`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT DISTINCT
  `a_3`
FROM (
  SELECT
    `a_3`
  FROM (
    SELECT
      `a_3`,
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
-- answer
WITH `__st_net_5` AS (
  SELECT
    `a_4`,
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_4`,
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_4`,
        `b_2`,
        `__st_weight`
      FROM (
        SELECT
          `a_4`,
          `a_2`,
          `b_2`,
          `__st_weight`
        FROM (
          SELECT
            `a_4`,
            `a_2`,
            `b_2`,
            `__st_weight`
          FROM (
            SELECT /*+ BROADCAST(`t1`) */
              `a_4`,
              `a_2`,
              `b_2`,
              `t2`.`__st_weight`
            FROM (
              SELECT
                `a_3` AS `a_4`
              FROM `__st_distinct_rows_2` AS `t`
            ) AS `t1`
            CROSS JOIN (
              SELECT
                `a_2`,
                `b_2`,
                CAST(1 AS BIGINT) AS `__st_weight`
              FROM (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`
                FROM `__st_after_u`
              ) AS `t`
              UNION ALL
              SELECT
                `a_2`,
                `b_2`,
                -`__st_weight` AS `__st_weight`
              FROM (
                SELECT
                  `a` AS `a_2`,
                  `b` AS `b_2`,
                  `__st_weight`
                FROM `__st_changes_u`
              ) AS `t`
            ) AS `t2`
          ) AS `t1`
        ) AS `t`
        WHERE
          `a_2` < `a_4`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_4`,
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_6` AS (
  SELECT
    `id`,
    `scalar`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `scalar`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `r`.`a_5`,
          `r`.`scalar`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `__st_weight`
          FROM `__st_changes_r`
        ) AS `l`
        LEFT JOIN `__st_step_4` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_5`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `r`.`a_5`,
          `r`.`scalar`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN `__st_step_4` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_5`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `a_5`,
          `scalar`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`r`) */
            `l`.`id`,
            `l`.`a`,
            `r`.`a_5`,
            `r`.`scalar`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT JOIN (
            SELECT
              `a_5`,
              CASE
                WHEN `rows` > 1
                THEN CAST(raise_error('streamtables: a scalar subquery returned more than one row') AS INT)
                ELSE `only`
              END AS `scalar`
            FROM (
              SELECT
                `a_5`,
                any_value(`max_b`) AS `only`,
                count(*) AS `rows`
              FROM (
                SELECT
                  `max` AS `max_b`,
                  `a_5`
                FROM (
                  SELECT /*+ BROADCAST(`r`) */
                    `l`.`a_5`,
                    `r`.`a_4`,
                    `r`.`max`
                  FROM (
                    SELECT
                      `a_3` AS `a_5`
                    FROM `__st_distinct_rows_2` AS `t`
                  ) AS `l`
                  LEFT JOIN (
                    SELECT
                      `a_4`,
                      max(`b_2`) AS `max`
                    FROM (
                      SELECT
                        `a_4`,
                        `b_2`
                      FROM (
                        SELECT
                          `a_4`,
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
                        FROM `__st_net_5` AS `t`
                        WHERE
                          `__st_weight` <> 0
                      ) AS `s`
                    ) AS `t`
                    GROUP BY
                      `a_4`
                  ) AS `r`
                    ON `a_5` IS NOT DISTINCT FROM `a_4`
                ) AS `t`
              ) AS `t`
              GROUP BY
                `a_5`
            ) AS `t`
          ) AS `r`
            ON `a` IS NOT DISTINCT FROM `a_5`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `scalar`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `m`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `m`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `scalar` AS `m`,
      `__st_weight`
    FROM `__st_net_6` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `m`
) AS `s`
WHERE
  `__st_weight` <> 0
