select c.region, sum(o.amount) as total, count(*) as orders
from {{ ref('orders') }} o
join {{ ref('customers') }} c on c.id = o.customer
group by c.region
