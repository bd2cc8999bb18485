-- title: a generator is linear
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id, x
FROM r LATERAL VIEW explode(array(a, b)) e AS x
---- plan
Project id, x  [linear]
  Generate explode(array(a, b)) as x  [linear]
    Scan r (id, a, b)  [linear]
---- delta plan
Net
  Project id, x  [linear]
    Generate explode(array(a, b)) as x  [linear]
      Net
        Scan changes.r (id, a, b)  [linear]
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
)
SELECT
  `id`,
  `x`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `x`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `x`,
      `__st_weight`
    FROM (
      SELECT
        `t`.`id`,
        `t`.`a`,
        `t`.`b`,
        `x`,
        `t`.`__st_weight`
      FROM `__st_net_1` AS `t`
      LATERAL VIEW
      explode(array(`a`, `b`)) g AS `x`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `x`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, x int
-- answer
SELECT
  `id`,
  `x`,
  `__st_weight`
FROM (
  SELECT
    `t`.`id`,
    `t`.`a`,
    `t`.`b`,
    `x`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
  LATERAL VIEW
  explode(array(`a`, `b`)) g AS `x`
) AS `t`
