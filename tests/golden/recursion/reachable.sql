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
      Sum
        Recursive  [whole]
          Project a as a_3, b as b_3, 1 as d  [linear]
            Scan after.u (a, b)  [linear]
          Project a_4 as a_3, b_5 as b_3, d_2 + 1 as d  [linear]
            InnerJoin a_5 = b_4  [multilinear]
              Filter d_2 < 3 (#1)  [linear]
                Project a_3 as a_4, b_3 as b_4, d as d_2  [linear]
                  Itself
              Scan after.u (a as a_5, b as b_5)  [linear]
        Negate
          Recursive  [whole]
            Project a as a_3, b as b_3, 1 as d  [linear]
              Scan before.u (a, b)  [linear]
            Project a_4 as a_3, b_5 as b_3, d_2 + 1 as d  [linear]
              InnerJoin a_5 = b_4  [multilinear]
                #1
                Scan before.u (a as a_5, b as b_5)  [linear]
---- delta sql (spark)
WITH RECURSIVE `__st_p_1`(`a_3`, `b_3`, `d`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`
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
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `b_4`,
        `d_2`,
        `a_5`,
        `b_5`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `b_3` AS `b_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `b_3`,
              `d`
            FROM `__st_p_1`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`
        FROM `after`.`u`
      ) AS `t2`
        ON `a_5` = `b_4`
    ) AS `t`
  ) AS `t`
), `__st_p_2`(`a_3`, `b_3`, `d`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      `b` AS `b_3`,
      1 AS `d`
    FROM (
      SELECT
        `a`,
        `b`
      FROM `before`.`u`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `b_4`,
        `d_2`,
        `a_5`,
        `b_5`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `b_3` AS `b_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `b_3`,
              `d`
            FROM `__st_p_2`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`
        FROM `before`.`u`
      ) AS `t2`
        ON `a_5` = `b_4`
    ) AS `t`
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
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`
        FROM `__st_p_1`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`
        FROM `__st_p_2`
      ) AS `t`
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
    FROM `__st_net_1` AS `t`
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
-- answer
WITH RECURSIVE `__st_net_1` AS (
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
    GROUP BY
      `a`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
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
      FROM (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`
        FROM `__st_after_u`
      ) AS `t`
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
), `__st_p_1`(`a_3`, `b_3`, `d`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`
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
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `b_4`,
        `d_2`,
        `a_5`,
        `b_5`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `b_3` AS `b_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `b_3`,
              `d`
            FROM `__st_p_1`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
        SELECT
          `a` AS `a_5`,
          `b` AS `b_5`
        FROM `__st_after_u`
      ) AS `t2`
        ON `a_5` = `b_4`
    ) AS `t`
  ) AS `t`
), `__st_p_2`(`a_3`, `b_3`, `d`) AS (
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a` AS `a_3`,
      `b` AS `b_3`,
      1 AS `d`
    FROM (
      SELECT
        `a`,
        `b`
      FROM (
        SELECT
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
  ) AS `t`
  UNION ALL
  SELECT
    `a_3`,
    `b_3`,
    `d`
  FROM (
    SELECT
      `a_4` AS `a_3`,
      `b_5` AS `b_3`,
      `d_2` + 1 AS `d`
    FROM (
      SELECT
        `a_4`,
        `b_4`,
        `d_2`,
        `a_5`,
        `b_5`
      FROM (
        SELECT
          `a_4`,
          `b_4`,
          `d_2`
        FROM (
          SELECT
            `a_3` AS `a_4`,
            `b_3` AS `b_4`,
            `d` AS `d_2`
          FROM (
            SELECT
              `a_3`,
              `b_3`,
              `d`
            FROM `__st_p_2`
          ) AS `t`
        ) AS `t`
        WHERE
          `d_2` < 3
      ) AS `t1`
      JOIN (
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
      ) AS `t2`
        ON `a_5` = `b_4`
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`
        FROM `__st_p_1`
      ) AS `t`
      UNION ALL
      SELECT
        `a_3`,
        `b_3`,
        `d`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `a_3`,
          `b_3`,
          `d`
        FROM `__st_p_2`
      ) AS `t`
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
  `a_3` AS `a`,
  `b_3` AS `b`,
  `d`,
  `__st_weight`
FROM `__st_net_3` AS `t`
