-- title: UNION ALL adds bags; branches have one type
-- sources: l(a int); r(c decimal(10,2))
SELECT a FROM l
UNION ALL
SELECT c FROM r
---- plan
Project a_3 as a  [linear]
  UnionAll  [linear]
    Project CAST(a_2 AS DECIMAL(12, 2)) as a_3  [linear]
      Project a as a_2  [linear]
        Scan l (a)  [linear]
    Project CAST(c_2 AS DECIMAL(12, 2)) as a_3  [linear]
      Project c as c_2  [linear]
        Scan r (c)  [linear]
---- delta plan
Net
  Project a_3 as a  [linear]
    UnionAll  [linear]
      Project CAST(a_2 AS DECIMAL(12, 2)) as a_3  [linear]
        Project a as a_2  [linear]
          Scan changes.l (a)  [linear]
      Project CAST(c_2 AS DECIMAL(12, 2)) as a_3  [linear]
        Project c as c_2  [linear]
          Scan changes.r (c)  [linear]
---- delta sql (spark)
SELECT
  `a`,
  `__st_weight`
FROM (
  SELECT
    `a`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `a_3` AS `a`,
      `__st_weight`
    FROM (
      SELECT
        CAST(`a_2` AS DECIMAL(12, 2)) AS `a_3`,
        `__st_weight`
      FROM (
        SELECT
          `a` AS `a_2`,
          `__st_weight`
        FROM (
          SELECT
            `a`,
            `__st_weight`
          FROM `changes`.`l`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        CAST(`c_2` AS DECIMAL(12, 2)) AS `a_3`,
        `__st_weight`
      FROM (
        SELECT
          `c` AS `c_2`,
          `__st_weight`
        FROM (
          SELECT
            `c`,
            `__st_weight`
          FROM `changes`.`r`
        ) AS `t`
      ) AS `t`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `a`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: a decimal(12,2)
-- answer
SELECT
  `a_3` AS `a`,
  `__st_weight`
FROM (
  SELECT
    CAST(`a_2` AS DECIMAL(12, 2)) AS `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM (
      SELECT
        `a`,
        `__st_weight`
      FROM `__st_changes_l`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    CAST(`c_2` AS DECIMAL(12, 2)) AS `a_3`,
    `__st_weight`
  FROM (
    SELECT
      `c` AS `c_2`,
      `__st_weight`
    FROM (
      SELECT
        `c`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
  ) AS `t`
) AS `t`
