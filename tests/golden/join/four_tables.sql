-- title: each term walks the join graph from its changes
-- sources: a(k int); b(k int, m int); c(m int, n int); d(n int, s string)
SELECT a.k, d.s
FROM a
JOIN b ON a.k = b.k
JOIN c ON b.m = c.m
JOIN d ON c.n = d.n
---- plan
Project k, s  [linear]
  InnerJoin k = k_2 and m = m_2 and n = n_2  [multilinear]
    Scan a (k)  [linear]
    Scan b (k as k_2, m)  [linear]
    Scan c (m as m_2, n)  [linear]
    Scan d (n as n_2, s)  [linear]
---- delta plan
Net
  Project k, s  [linear]
    Sum
      InnerJoin k = k_2 and m = m_2 and n = n_2  [multilinear]
        Scan changes.a (k)  [linear]
        Scan after.b (k as k_2, m)  [linear]
        Scan after.c (m as m_2, n)  [linear]
        Scan after.d (n as n_2, s)  [linear]
      InnerJoin k = k_2 and m = m_2 and n = n_2  [multilinear]
        Scan before.a (k)  [linear]
        Scan changes.b (k as k_2, m)  [linear]
        Scan after.c (m as m_2, n)  [linear]
        Scan after.d (n as n_2, s)  [linear]
      InnerJoin k = k_2 and m = m_2 and n = n_2  [multilinear]
        Scan before.a (k)  [linear]
        Scan before.b (k as k_2, m)  [linear]
        Scan changes.c (m as m_2, n)  [linear]
        Scan after.d (n as n_2, s)  [linear]
      InnerJoin k = k_2 and m = m_2 and n = n_2  [multilinear]
        Scan before.a (k)  [linear]
        Scan before.b (k as k_2, m)  [linear]
        Scan before.c (m as m_2, n)  [linear]
        Scan changes.d (n as n_2, s)  [linear]
---- delta sql (spark)
SELECT
  `k`,
  `s`,
  `__st_weight`
FROM (
  SELECT
    `k`,
    `s`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `k`,
      `s`,
      `__st_weight`
    FROM (
      SELECT
        `k`,
        `k_2`,
        `m`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `k`,
          `__st_weight`
        FROM `changes`.`a`
      ) AS `t1`
      JOIN (
        SELECT
          `k` AS `k_2`,
          `m`
        FROM `after`.`b`
      ) AS `t2`
        ON `k` = `k_2`
      JOIN (
        SELECT
          `m` AS `m_2`,
          `n`
        FROM `after`.`c`
      ) AS `t3`
        ON `m` = `m_2`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `after`.`d`
      ) AS `t4`
        ON `n` = `n_2`
      UNION ALL
      SELECT
        `k`,
        `k_2`,
        `m`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `k` AS `k_2`,
          `m`,
          `__st_weight`
        FROM `changes`.`b`
      ) AS `t1`
      JOIN (
        SELECT
          `k`
        FROM `before`.`a`
      ) AS `t2`
        ON `k` = `k_2`
      JOIN (
        SELECT
          `m` AS `m_2`,
          `n`
        FROM `after`.`c`
      ) AS `t3`
        ON `m` = `m_2`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `after`.`d`
      ) AS `t4`
        ON `n` = `n_2`
      UNION ALL
      SELECT
        `k`,
        `k_2`,
        `m`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `m` AS `m_2`,
          `n`,
          `__st_weight`
        FROM `changes`.`c`
      ) AS `t1`
      JOIN (
        SELECT
          `k` AS `k_2`,
          `m`
        FROM `before`.`b`
      ) AS `t2`
        ON `m` = `m_2`
      JOIN (
        SELECT
          `k`
        FROM `before`.`a`
      ) AS `t3`
        ON `k` = `k_2`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `after`.`d`
      ) AS `t4`
        ON `n` = `n_2`
      UNION ALL
      SELECT
        `k`,
        `k_2`,
        `m`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `n` AS `n_2`,
          `s`,
          `__st_weight`
        FROM `changes`.`d`
      ) AS `t1`
      JOIN (
        SELECT
          `m` AS `m_2`,
          `n`
        FROM `before`.`c`
      ) AS `t2`
        ON `n` = `n_2`
      JOIN (
        SELECT
          `k` AS `k_2`,
          `m`
        FROM `before`.`b`
      ) AS `t3`
        ON `m` = `m_2`
      JOIN (
        SELECT
          `k`
        FROM `before`.`a`
      ) AS `t4`
        ON `k` = `k_2`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `k`,
    `s`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: k int, s string
-- answer
WITH `__st_terms_1` AS (
  SELECT
    `k`,
    CAST(1 AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `k`
    FROM `__st_after_a`
  ) AS `t`
  UNION ALL
  SELECT
    `k`,
    -`__st_weight` AS `__st_weight`
  FROM (
    SELECT
      `k`,
      `__st_weight`
    FROM `__st_changes_a`
  ) AS `t`
), `__st_terms_2` AS (
  SELECT
    `k_2`,
    `m`,
    CAST(1 AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `k` AS `k_2`,
      `m`
    FROM `__st_after_b`
  ) AS `t`
  UNION ALL
  SELECT
    `k_2`,
    `m`,
    -`__st_weight` AS `__st_weight`
  FROM (
    SELECT
      `k` AS `k_2`,
      `m`,
      `__st_weight`
    FROM `__st_changes_b`
  ) AS `t`
)
SELECT
  `k`,
  `s`,
  `__st_weight`
FROM (
  SELECT
    `k`,
    `s`,
    `__st_weight`
  FROM (
    SELECT
      `k`,
      `k_2`,
      `m`,
      `m_2`,
      `n`,
      `n_2`,
      `s`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `k`,
        `k_2`,
        `m`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`t1`) */
          `k`,
          `k_2`,
          `m`,
          `m_2`,
          `n`,
          `t1`.`__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `k`,
            `k_2`,
            `m`,
            `t1`.`__st_weight`
          FROM (
            SELECT
              `k`,
              `__st_weight`
            FROM `__st_changes_a`
          ) AS `t1`
          JOIN (
            SELECT
              `k` AS `k_2`,
              `m`
            FROM `__st_after_b`
          ) AS `t2`
            ON `k` = `k_2`
        ) AS `t1`
        JOIN (
          SELECT
            `m` AS `m_2`,
            `n`
          FROM `__st_after_c`
        ) AS `t2`
          ON `m` = `m_2`
      ) AS `t1`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `__st_after_d`
      ) AS `t2`
        ON `n` = `n_2`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `k`,
    `s`,
    `__st_weight`
  FROM (
    SELECT
      `k`,
      `k_2`,
      `m`,
      `m_2`,
      `n`,
      `n_2`,
      `s`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `k_2`,
        `m`,
        `k`,
        `m_2`,
        `n`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`t1`) */
          `k_2`,
          `m`,
          `k`,
          `m_2`,
          `n`,
          `t1`.`__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `k_2`,
            `m`,
            `k`,
            `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
          FROM (
            SELECT
              `k` AS `k_2`,
              `m`,
              `__st_weight`
            FROM `__st_changes_b`
          ) AS `t1`
          JOIN `__st_terms_1` AS `t2`
            ON `k` = `k_2`
        ) AS `t1`
        JOIN (
          SELECT
            `m` AS `m_2`,
            `n`
          FROM `__st_after_c`
        ) AS `t2`
          ON `m` = `m_2`
      ) AS `t1`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `__st_after_d`
      ) AS `t2`
        ON `n` = `n_2`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `k`,
    `s`,
    `__st_weight`
  FROM (
    SELECT
      `k`,
      `k_2`,
      `m`,
      `m_2`,
      `n`,
      `n_2`,
      `s`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `m_2`,
        `n`,
        `k_2`,
        `m`,
        `k`,
        `n_2`,
        `s`,
        `t1`.`__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`t1`) */
          `m_2`,
          `n`,
          `k_2`,
          `m`,
          `k`,
          `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `m_2`,
            `n`,
            `k_2`,
            `m`,
            `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
          FROM (
            SELECT
              `m` AS `m_2`,
              `n`,
              `__st_weight`
            FROM `__st_changes_c`
          ) AS `t1`
          JOIN `__st_terms_2` AS `t2`
            ON `m` = `m_2`
        ) AS `t1`
        JOIN `__st_terms_1` AS `t2`
          ON `k` = `k_2`
      ) AS `t1`
      JOIN (
        SELECT
          `n` AS `n_2`,
          `s`
        FROM `__st_after_d`
      ) AS `t2`
        ON `n` = `n_2`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `k`,
    `s`,
    `__st_weight`
  FROM (
    SELECT
      `k`,
      `k_2`,
      `m`,
      `m_2`,
      `n`,
      `n_2`,
      `s`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `n_2`,
        `s`,
        `m_2`,
        `n`,
        `k_2`,
        `m`,
        `k`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`t1`) */
          `n_2`,
          `s`,
          `m_2`,
          `n`,
          `k_2`,
          `m`,
          `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `n_2`,
            `s`,
            `m_2`,
            `n`,
            `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
          FROM (
            SELECT
              `n` AS `n_2`,
              `s`,
              `__st_weight`
            FROM `__st_changes_d`
          ) AS `t1`
          JOIN (
            SELECT
              `m_2`,
              `n`,
              CAST(1 AS BIGINT) AS `__st_weight`
            FROM (
              SELECT
                `m` AS `m_2`,
                `n`
              FROM `__st_after_c`
            ) AS `t`
            UNION ALL
            SELECT
              `m_2`,
              `n`,
              -`__st_weight` AS `__st_weight`
            FROM (
              SELECT
                `m` AS `m_2`,
                `n`,
                `__st_weight`
              FROM `__st_changes_c`
            ) AS `t`
          ) AS `t2`
            ON `n` = `n_2`
        ) AS `t1`
        JOIN `__st_terms_2` AS `t2`
          ON `m` = `m_2`
      ) AS `t1`
      JOIN `__st_terms_1` AS `t2`
        ON `k` = `k_2`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_2_c(m, n) where n in (__st_changes_d.n)
-- found: __st_found_1_1_d(n, s) where n in (__st_changes_c.n)
-- found: __st_old_1_2_b(k, m) where m in (__st_changes_c.m)
-- found: __st_found_1_1_c(m, n) where m in (__st_changes_b.m)
-- found: __st_old_1_1_a(k) where k in (__st_changes_b.k)
-- found: __st_found_1_1_b(k, m) where k in (__st_changes_a.k)
-- found: __st_old_2_1_b(k, m) where m in (__st_old_1_2_c.m)
-- found: __st_old_2_1_a(k) where k in (__st_old_1_2_b.k)
-- found: __st_found_2_1_d(n, s) where n in (__st_found_1_1_c.n)
-- found: __st_found_2_1_c(m, n) where m in (__st_found_1_1_b.m)
-- found: __st_old_3_1_a(k) where k in (__st_old_2_1_b.k)
-- found: __st_found_3_1_d(n, s) where n in (__st_found_2_1_c.n)
