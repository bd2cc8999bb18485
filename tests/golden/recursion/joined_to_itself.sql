-- title: a step that joins the recursion to itself is computed before and after
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
WITH RECURSIVE p(a, d) AS (
  SELECT a, 1 FROM u
  UNION ALL
  SELECT x.a + y.a, x.d + 1 FROM p AS x JOIN p AS y ON x.a < y.a WHERE x.d < 3
)
SELECT a, d FROM p
---- plan
Project a_3 as a, d  [linear]
  Recursive  [whole]
    Project a as a_3, 1 as d  [linear]
      Scan u (a)  [linear]
    Project a_4 + a_5 as a_3, d_2 + 1 as d  [linear]
      InnerJoin a_4 < a_5  [multilinear]
        Filter d_2 < 3  [linear]
          Project a_3 as a_4, d as d_2  [linear]
            Itself (#1)
        Project a_3 as a_5  [linear]
          #1
---- delta plan
Net
  Project a_3 as a, d  [linear]
    Net
      Sum
        Recursive  [whole]
          Project a as a_3, 1 as d  [linear]
            Scan after.u (a)  [linear]
          Project a_4 + a_5 as a_3, d_2 + 1 as d (#1)  [linear]
            InnerJoin a_4 < a_5  [multilinear]
              Filter d_2 < 3  [linear]
                Project a_3 as a_4, d as d_2  [linear]
                  Itself (#2)
              Project a_3 as a_5  [linear]
                #2
        Negate
          Recursive  [whole]
            Project a as a_3, 1 as d  [linear]
              Scan before.u (a)  [linear]
            #1
---- delta sql (spark)
WITH RECURSIVE `__st_p_1`(`a_3`, `d`) AS (
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      1 AS `d`
    FROM (
      SELECT
        `a`
      FROM `after`.`u`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a_4` + `a_5` AS `a_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `d_2`,
        `a_5`
      FROM (
        SELECT
          `a_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `d`
            FROM `__st_p_1`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a_3` AS `a_5`
        FROM (
          SELECT
            `a_3`,
            `d`
          FROM `__st_p_1`
        ) AS `t`
      ) AS `t2`
        ON `a_4` < `a_5`
    ) AS `t`
  ) AS `t`
), `__st_p_2`(`a_3`, `d`) AS (
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      1 AS `d`
    FROM (
      SELECT
        `a`
      FROM `before`.`u`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a_4` + `a_5` AS `a_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `d_2`,
        `a_5`
      FROM (
        SELECT
          `a_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `d`
            FROM `__st_p_2`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a_3` AS `a_5`
        FROM (
          SELECT
            `a_3`,
            `d`
          FROM `__st_p_2`
        ) AS `t`
      ) AS `t2`
        ON `a_4` < `a_5`
    ) AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `a_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `d`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `d`
        FROM `__st_p_1`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `d`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `d`
        FROM `__st_p_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `d`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `d`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_3` AS `a`,
      `d`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `d`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a int, d int
-- answer
WITH RECURSIVE `__st_net_1` AS (
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
        FROM `__st_after_u`
      ) AS `t`
      UNION ALL
      SELECT
        `a`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `a`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_p_1`(`a_3`, `d`) AS (
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      1 AS `d`
    FROM (
      SELECT
        `a`
      FROM `__st_after_u`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a_4` + `a_5` AS `a_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `d_2`,
        `a_5`
      FROM (
        SELECT
          `a_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `d`
            FROM `__st_p_1`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a_3` AS `a_5`
        FROM (
          SELECT
            `a_3`,
            `d`
          FROM `__st_p_1`
        ) AS `t`
      ) AS `t2`
        ON `a_4` < `a_5`
    ) AS `t`
  ) AS `t`
), `__st_p_2`(`a_3`, `d`) AS (
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      1 AS `d`
    FROM (
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
        FROM `__st_net_1` AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `d`
  FROM (
    SELECT
      `a_4` + `a_5` AS `a_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `d_2`,
        `a_5`
      FROM (
        SELECT
          `a_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `d`
            FROM `__st_p_2`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a_3` AS `a_5`
        FROM (
          SELECT
            `a_3`,
            `d`
          FROM `__st_p_2`
        ) AS `t`
      ) AS `t2`
        ON `a_4` < `a_5`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `a_3`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `a_3`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a_3`,
        `d`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `d`
        FROM `__st_p_1`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `d`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `d`
        FROM `__st_p_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_3`,
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `a`,
  `d`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    `d`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_3` AS `a`,
      `d`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `a`,
    `d`
) AS `s`
WHERE
  `__st_weight` <> 0
