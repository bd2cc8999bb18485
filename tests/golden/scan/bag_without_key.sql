-- title: a table without a key is a bag; unread columns are cut before netting
-- sources: log(kind string, n int, d date)
SELECT kind FROM log
---- plan
Project kind  [linear]
  Scan log (kind)  [linear]
---- delta plan
Net
  Project kind  [linear]
    Net
      Scan changes.log (kind)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `kind`,
    `__st_weight`
  FROM (
    SELECT
      `kind`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `kind`,
        `__st_weight`
      FROM `changes`.`log`
    ) AS `t`
    GROUP BY
      `kind`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `kind`,
  `__st_weight`
FROM (
  SELECT
    `kind`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `kind`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `kind`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: kind string
-- answer
SELECT
  `kind`,
  `__st_weight`
FROM (
  SELECT
    `kind`,
    `__st_weight`
  FROM `__st_changes_log`
) AS `t`
