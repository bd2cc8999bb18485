-- title: the same table twice
-- sources: staff(id int, a int, s string) key id
SELECT w.s AS who, b.s AS boss
FROM staff AS w
JOIN staff AS b ON w.a = b.id
---- plan
Project s as who, s_2 as boss, id as __st_key_id  [linear]
  InnerJoin a = id_2  [multilinear]
    Scan staff (id, a, s)  [linear]
    Scan staff (id as id_2, s as s_2)  [linear]
---- delta plan
Net
  Project s as who, s_2 as boss  [linear]
    Sum
      InnerJoin a = id_2  [multilinear]
        Net
          Scan changes.staff (a, s)  [linear]
        Scan after.staff (id as id_2, s as s_2)  [linear]
      InnerJoin a = id_2  [multilinear]
        Scan before.staff (a, s)  [linear]
        Net
          Scan changes.staff (id as id_2, s as s_2)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `a`,
    `s`,
    `__st_weight`
  FROM (
    SELECT
      `a`,
      `s`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a`,
        `s`,
        `__st_weight`
      FROM `changes`.`staff`
    ) AS `t`
    GROUP BY
      `a`,
      `s`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id_2`,
    `s_2`,
    `__st_weight`
  FROM (
    SELECT
      `id_2`,
      `s_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `s` AS `s_2`,
        `__st_weight`
      FROM `changes`.`staff`
    ) AS `t`
    GROUP BY
      `id_2`,
      `s_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `who`,
  `boss`,
  `__st_weight`
FROM (
  SELECT
    `who`,
    `boss`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `s` AS `who`,
      `s_2` AS `boss`,
      `__st_weight`
    FROM (
      SELECT
        `a`,
        `s`,
        `id_2`,
        `s_2`,
        `t1`.`__st_weight`
      FROM `__st_net_1` AS `t1`
      JOIN (
        SELECT
          `id` AS `id_2`,
          `s` AS `s_2`
        FROM `after`.`staff`
      ) AS `t2`
        ON `a` = `id_2`
      UNION ALL
      SELECT
        `a`,
        `s`,
        `id_2`,
        `s_2`,
        `t1`.`__st_weight`
      FROM `__st_net_2` AS `t1`
      JOIN (
        SELECT
          `a`,
          `s`
        FROM `before`.`staff`
      ) AS `t2`
        ON `a` = `id_2`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `who`,
    `boss`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: who string, boss string, __st_key_id int
-- answer
SELECT
  `s` AS `who`,
  `s_2` AS `boss`,
  `id` AS `__st_key_id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `s`,
    `s_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `s`,
      `id_2`,
      `s_2`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id`,
        `a`,
        `s`,
        `id_2`,
        `s_2`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `s`,
          `__st_weight`
        FROM `__st_changes_staff`
      ) AS `t1`
      JOIN (
        SELECT
          `id` AS `id_2`,
          `s` AS `s_2`
        FROM `__st_after_staff`
      ) AS `t2`
        ON `a` = `id_2`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `id`,
    `s`,
    `s_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `s`,
      `id_2`,
      `s_2`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id_2`,
        `s_2`,
        `id`,
        `a`,
        `s`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `id` AS `id_2`,
          `s` AS `s_2`,
          `__st_weight`
        FROM `__st_changes_staff`
      ) AS `t1`
      JOIN (
        SELECT
          `id`,
          `a`,
          `s`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `s`
          FROM `__st_after_staff`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `a`,
          `s`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `s`,
            `__st_weight`
          FROM `__st_changes_staff`
        ) AS `t`
      ) AS `t2`
        ON `a` = `id_2`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_2_staff(id, a, s) where a in (__st_changes_staff.id)
-- found: __st_found_1_1_staff(id, s) where id in (__st_changes_staff.a)
