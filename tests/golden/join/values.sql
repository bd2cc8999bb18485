-- title: VALUES: rows of the text join like any other, and never change
-- sources: orders(id int, status int) key id
SELECT o.id, s.name FROM orders AS o JOIN (VALUES (1, 'open'), (2, 'paid')) AS s(code, name) ON o.status = s.code
---- plan
Project id, col2 as name  [linear]
  InnerJoin status = col1  [multilinear]
    Scan orders (id, status)  [linear]
    Constant 2 rows  [linear]
---- delta plan
Net
  Project id, col2 as name  [linear]
    Sum
      InnerJoin status = col1  [multilinear]
        Scan changes.orders (id, status)  [linear]
        Constant 2 rows  [linear]
---- delta sql (spark)
SELECT
  `id`,
  `name`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `name`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `col2` AS `name`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `status`,
        `col1`,
        `col2`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `status`,
          `__st_weight`
        FROM `changes`.`orders`
      ) AS `t1`
      JOIN (
        SELECT
          `col1`,
          `col2`
        FROM VALUES
          (1, 'open'),
          (2, 'paid') AS `v`(`col1`, `col2`)
      ) AS `t2`
        ON `status` = `col1`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `name`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, name string
-- answer
SELECT
  `id`,
  `col2` AS `name`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `col2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `status`,
      `col1`,
      `col2`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id`,
        `status`,
        `col1`,
        `col2`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `status`,
          `__st_weight`
        FROM `__st_changes_orders`
      ) AS `t1`
      JOIN (
        SELECT
          `col1`,
          `col2`
        FROM VALUES
          (1, 'open'),
          (2, 'paid') AS `v`(`col1`, `col2`)
      ) AS `t2`
        ON `status` = `col1`
    ) AS `t1`
  ) AS `t`
) AS `t`
