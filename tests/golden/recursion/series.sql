-- title: a recursion whose step reads no table follows the changes of its base
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
WITH RECURSIVE n(i, m) AS (
  SELECT a, b FROM u
  UNION ALL
  SELECT i + 1, m FROM n WHERE i < m
)
SELECT i, m FROM n
---- plan
Project i, m  [linear]
  Recursive  [linear]
    Project a as i, b as m  [linear]
      Scan u (a, b)  [linear]
    Project i_2 + 1 as i, m_2 as m  [linear]
      Filter i_2 < m_2  [linear]
        Project i as i_2, m as m_2  [linear]
          Itself
---- delta plan
Net
  Project i, m  [linear]
    Net
      OneSided
        Recursive  [linear]
          Project i, m, __st_weight as __st_side  [linear]
            Unfold
              Repeat
                Net
                  Project a as i, b as m  [linear]
                    Scan changes.u (a, b)  [linear]
          Project i_2 + 1 as i, m_2 as m, __st_side  [linear]
            Filter i_2 < m_2  [linear]
              Project i as i_2, m as m_2, __st_side  [linear]
                Itself
---- delta sql (spark)
WITH RECURSIVE `__st_net_1` AS (
  SELECT
    `i`,
    `m`,
    `__st_weight`
  FROM (
    SELECT
      `i`,
      `m`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `i`,
        `b` AS `m`,
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
      `i`,
      `m`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_n_1`(`i`, `m`, `__st_side`) AS (
  SELECT
    `i`,
    `m`,
    `__st_side`
  FROM (
    SELECT
      `i`,
      `m`,
      `__st_weight` AS `__st_side`
    FROM (
      SELECT
        `i`,
        `m`,
        `__st_weight`
      FROM (
        SELECT
          `i`,
          `m`,
          `__st_sign` AS `__st_weight`
        FROM (
          SELECT
            `i`,
            `m`,
            CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
            explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
          FROM `__st_net_1` AS `t`
          WHERE
            `__st_weight` <> 0
        ) AS `s`
      ) AS `t`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `i`,
    `m`,
    `__st_side`
  FROM (
    SELECT
      `i_2` + 1 AS `i`,
      `m_2` AS `m`,
      `__st_side`
    FROM (
      SELECT
        `i_2`,
        `m_2`,
        `__st_side`
      FROM (
        SELECT
          `i` AS `i_2`,
          `m` AS `m_2`,
          `__st_side`
        FROM (
          SELECT
            `i`,
            `m`,
            `__st_side`
          FROM `__st_n_1`
        ) AS `t`
      ) AS `t`
      WHERE
        `i_2` < `m_2`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `i`,
    `m`,
    `__st_weight`
  FROM (
    SELECT
      `i`,
      `m`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `i`,
        `m`,
        `__st_side` AS `__st_weight`
      FROM (
        SELECT
          `i`,
          `m`,
          `__st_side`
        FROM `__st_n_1`
      ) AS `t`
      WHERE
        `__st_side` <> 0
    ) AS `t`
    GROUP BY
      `i`,
      `m`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `i`,
  `m`,
  `__st_weight`
FROM (
  SELECT
    `i`,
    `m`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `i`,
      `m`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `i`,
    `m`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: i int, m int
-- answer
WITH RECURSIVE `__st_n_1`(`i`, `m`, `__st_side`) AS (
  SELECT
    `i`,
    `m`,
    `__st_side`
  FROM (
    SELECT
      `i`,
      `m`,
      `__st_weight` AS `__st_side`
    FROM (
      SELECT
        `i`,
        `m`,
        `__st_weight`
      FROM (
        SELECT
          `i`,
          `m`,
          `__st_sign` AS `__st_weight`
        FROM (
          SELECT
            `i`,
            `m`,
            CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
            explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
          FROM (
            SELECT
              `a` AS `i`,
              `b` AS `m`,
              `__st_weight`
            FROM (
              SELECT
                `a`,
                `b`,
                `__st_weight`
              FROM `__st_changes_u`
            ) AS `t`
          ) AS `t`
          WHERE
            `__st_weight` <> 0
        ) AS `s`
      ) AS `t`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `i`,
    `m`,
    `__st_side`
  FROM (
    SELECT
      `i_2` + 1 AS `i`,
      `m_2` AS `m`,
      `__st_side`
    FROM (
      SELECT
        `i_2`,
        `m_2`,
        `__st_side`
      FROM (
        SELECT
          `i` AS `i_2`,
          `m` AS `m_2`,
          `__st_side`
        FROM (
          SELECT
            `i`,
            `m`,
            `__st_side`
          FROM `__st_n_1`
        ) AS `t`
      ) AS `t`
      WHERE
        `i_2` < `m_2`
    ) AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `i`,
    `m`,
    `__st_weight`
  FROM (
    SELECT
      `i`,
      `m`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `i`,
        `m`,
        `__st_side` AS `__st_weight`
      FROM (
        SELECT
          `i`,
          `m`,
          `__st_side`
        FROM `__st_n_1`
      ) AS `t`
      WHERE
        `__st_side` <> 0
    ) AS `t`
    GROUP BY
      `i`,
      `m`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `i`,
  `m`,
  `__st_weight`
FROM (
  SELECT
    `i`,
    `m`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `i`,
      `m`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `i`,
    `m`
) AS `s`
WHERE
  `__st_weight` <> 0
