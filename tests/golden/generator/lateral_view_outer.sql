-- title: LATERAL VIEW OUTER keeps a row that has no items
-- sources: orders(id int, tags string) key id
SELECT id, tag FROM orders LATERAL VIEW OUTER explode(split(tags, ',')) t AS tag
---- plan
Project id, tag  [linear]
  Generate outer explode(split(tags, ',')) as tag  [linear]
    Scan orders (id, tags)  [linear]
---- delta plan
Net
  Project id, tag  [linear]
    Generate outer explode(split(tags, ',')) as tag  [linear]
      Scan changes.orders (id, tags)  [linear]
---- delta sql (spark)
SELECT
  `id`,
  `tag`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `tag`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `tag`,
      `__st_weight`
    FROM (
      SELECT
        `t`.`id`,
        `t`.`tags`,
        `tag`,
        `t`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `tags`,
          `__st_weight`
        FROM `changes`.`orders`
      ) AS `t`
      LATERAL VIEW OUTER
      explode(split(`tags`, ',')) g AS `tag`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `tag`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, tag string
-- answer
SELECT
  `id`,
  `tag`,
  `__st_weight`
FROM (
  SELECT
    `t`.`id`,
    `t`.`tags`,
    `tag`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `tags`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
  LATERAL VIEW OUTER
  explode(split(`tags`, ',')) g AS `tag`
) AS `t`
