-- title: an uncorrelated scalar subquery is one row
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id
FROM r
WHERE b > (SELECT avg(b) FROM u)
---- plan
Project id  [linear]
  Filter b > scalar  [linear]
    InnerJoin every pair  [multilinear]
      Scan r (id, b)  [linear]
      Project avg as scalar  [linear]
        Aggregate of all rows: avg(b_2) as avg  [whole]
          Scan u (b as b_2)  [linear]
---- delta plan
Net
  Sum
    Project id  [linear]
      Filter b > scalar  [linear]
        InnerJoin every pair  [multilinear]
          Net
            Scan changes.r (id, b)  [linear]
          Project avg as scalar  [linear]
            Aggregate of all rows: avg(b_2) as avg  [whole]
              Scan after.u (b as b_2)  [linear]
    Project id  [linear]
      Weighed b > scalar
        Scan before.r (id, b)  [linear]
        Project avg as scalar  [linear]
          Net
            Sum
              Aggregate of all rows: avg(b_2) as avg  [whole]
                Scan after.u (b as b_2)  [linear]
              Negate
                Aggregate of all rows: avg(b_2) as avg  [whole]
                  Scan before.u (b as b_2)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id`,
    `b`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `b`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `b`,
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `id`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `avg`,
    `__st_weight`
  FROM (
    SELECT
      any_value(`avg`) AS `avg`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `avg`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          avg(`b_2`) AS `avg`
        FROM (
          SELECT
            `b` AS `b_2`
          FROM `after`.`u`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `avg`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          avg(`b_2`) AS `avg`
        FROM (
          SELECT
            `b` AS `b_2`
          FROM `before`.`u`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      CAST(`avg` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `b`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `b`,
          `scalar`,
          `t1`.`__st_weight`
        FROM `__st_net_1` AS `t1`
        CROSS JOIN (
          SELECT
            `avg` AS `scalar`
          FROM (
            SELECT
              avg(`b_2`) AS `avg`
            FROM (
              SELECT
                `b` AS `b_2`
              FROM `after`.`u`
            ) AS `t`
          ) AS `t`
        ) AS `t2`
      ) AS `t`
      WHERE
        `b` > `scalar`
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `b`,
        `__st_weight`
      FROM (
        SELECT
          `t`.`id`,
          `t`.`b`,
          CASE
            WHEN NOT `o`.`__st_weight` IS NULL AND `b` > `o`.`scalar`
            THEN `o`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END + CASE
            WHEN NOT `n`.`__st_weight` IS NULL AND `b` > `n`.`scalar`
            THEN `n`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `b`
          FROM `before`.`r`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM (
            SELECT
              `avg` AS `scalar`,
              `__st_weight`
            FROM `__st_net_2` AS `t`
          ) AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM (
            SELECT
              `avg` AS `scalar`,
              `__st_weight`
            FROM `__st_net_2` AS `t`
          ) AS `s`
          WHERE
            `__st_weight` > 0
        ) AS `n`
          ON TRUE
      ) AS `w`
      WHERE
        `__st_weight` <> 0
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int
-- answer
WITH `__st_groups_1` AS (
  SELECT
    avg(`b_2`) AS `avg`
  FROM (
    SELECT
      `b` AS `b_2`
    FROM `__st_after_u`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `b` AS `b_2`
        FROM `__st_after_u`
      ) AS `t`
      UNION ALL
      SELECT
        `b_2`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `b` AS `b_2`,
          `__st_weight`
        FROM `__st_changes_u`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `avg`,
    `__st_weight`
  FROM (
    SELECT
      any_value(`avg`) AS `avg`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `avg`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_groups_1` AS `t`
      UNION ALL
      SELECT
        `avg`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          avg(`b_2`) AS `avg`
        FROM (
          SELECT
            `b_2`
          FROM (
            SELECT
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
            FROM `__st_net_1` AS `t`
            WHERE
              `__st_weight` <> 0
          ) AS `s`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      CAST(`avg` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `b`,
        `scalar`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `b`,
          `scalar`,
          `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `id`,
            `b`,
            `scalar`,
            `t1`.`__st_weight`
          FROM (
            SELECT
              `id`,
              `b`,
              `__st_weight`
            FROM `__st_changes_r`
          ) AS `t1`
          CROSS JOIN (
            SELECT
              `avg` AS `scalar`
            FROM `__st_groups_1` AS `t`
          ) AS `t2`
        ) AS `t1`
      ) AS `t`
      WHERE
        `b` > `scalar`
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `b`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`o`, `n`) */
          `t`.`id`,
          `t`.`b`,
          `t`.`__st_weight` * (
            CASE
              WHEN NOT `o`.`__st_weight` IS NULL AND `b` > `o`.`scalar`
              THEN `o`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END + CASE
              WHEN NOT `n`.`__st_weight` IS NULL AND `b` > `n`.`scalar`
              THEN `n`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END
          ) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `b`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM (
            SELECT
              `id`,
              `b`
            FROM `__st_after_r`
          ) AS `t`
          UNION ALL
          SELECT
            `id`,
            `b`,
            -`__st_weight` AS `__st_weight`
          FROM (
            SELECT
              `id`,
              `b`,
              `__st_weight`
            FROM `__st_changes_r`
          ) AS `t`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM (
            SELECT
              `avg` AS `scalar`,
              `__st_weight`
            FROM `__st_net_2` AS `t`
          ) AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `scalar`,
            `__st_weight`
          FROM (
            SELECT
              `avg` AS `scalar`,
              `__st_weight`
            FROM `__st_net_2` AS `t`
          ) AS `s`
          WHERE
            `__st_weight` > 0
        ) AS `n`
          ON TRUE
      ) AS `w`
      WHERE
        `__st_weight` <> 0
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
