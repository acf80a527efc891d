-- Deliveries of several callers share a commit, not on Citus. A delivery that gets null runs alone:
-- its idempotency key was used, it creates a user, or a recipient muted it or has rules for mails.

-- Batches lock idempotency keys, then inboxes, each sorted, so they cannot deadlock. A long-held
-- lock fails the batch: its deliveries run alone, and only one waits. PostgreSQL expects few rows,
-- and a nested loop over 1,000 would take seconds. The answers are in the deliveries' order.
create or replace function deliver_together(batch json) returns text[] language plpgsql
set lock_timeout = '250ms' set enable_nestloop = off as $$
#variable_conflict use_column
declare
  answers text[];
  delivered_to text[];
  reminders json;
  watched json;
begin
  with delivered as materialized (
    select * from json_to_recordset(batch -> 'deliveries') as d (
      n integer, id text, producer text, secret_hash text, idempotency_key text, body_hash text, max_unknown integer,
      title text, body text, url text, category text, data text, look text, expires_at text, priority text, created_at text, at bigint, application text, watch json
    )
  ),
  -- A user mentioned twice gets the first id.
  named as materialized (
    select w.n, w.place, coalesce(w.is_new, false) as is_new, u.user_id,
      first_value(w.id) over same_user as id, row_number() over same_user as mention
    from json_to_recordset(batch -> 'recipients') as w (
      n integer, place integer, username text, user_id text, external_id text, issuer text, is_new boolean, id text
    )
    cross join lateral (
      -- Subqueries, here and below: for a join, PostgreSQL may read the whole table.
      select case
        when w.username is not null then (
          select u.id from "user" u where u.username = w.username and starts_with(u.issuer, coalesce(w.issuer, ''))
        )
        when w.user_id is not null then (
          select u.id from "user" u where u.id = w.user_id and starts_with(u.issuer, coalesce(w.issuer, ''))
        )
        else (select u.id from "user" u where u.external_id = w.external_id and u.issuer = w.issuer)
      end as user_id
    ) u
    window same_user as (partition by w.n, u.user_id order by w.place)
  ),
  outcomes as materialized (
    select n, array_agg(place order by place) filter (where user_id is null) as unknown,
      bool_or(user_id is null and is_new or (
        select true from preference m
        where m.user_id = named.user_id and m.category in ('', d.category)
          and (m.mail is not null or m.hours is not null or m.muted_until > d.created_at
          and (select true from category c where c.application = d.application and c.name = d.category and c.mandatory = 1) is null) limit 1
      ) is not null) as is_alone,
      json_agg(json_build_object(
        'userId', user_id, 'id', case when user_id is not null then named.id end,
        'status', case when user_id is null then 'unknown_recipient' else 'delivered' end
      ) order by place) as results
    from named join delivered d using (n) group by n
  ),
  -- `number`: 0 for the service, null for an invalid key. `is_sent`: the idempotency key is new.
  decided as materialized (
    select d.*, p.number, not o.is_alone and p.number is not null and not s.has_too_few as is_sent,
      case
        when p.number is null then 'refused'
        when o.is_alone then null
        when not s.has_too_few then json_build_object('deliveryId', d.id, 'results', o.results)::text
        -- With an idempotency key it may be a repetition.
        when d.idempotency_key is null then json_build_object('unknown', o.unknown)::text
      end as answer
    from delivered d
    join outcomes o on o.n = d.n
    cross join lateral (select coalesce(cardinality(o.unknown), 0) > d.max_unknown as has_too_few) s
    cross join lateral (
      select coalesce((
        select p.number from producer p
        where p.id = d.producer and (d.secret_hash is null or p.secret_hash = d.secret_hash and p.revoked_at is null)
      ), case when d.secret_hash is null then 0 end) as number
    ) p
  ),
  keys as (
    insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
    select producer, idempotency_key, body_hash, answer, at from decided where is_sent and idempotency_key is not null
    order by producer, idempotency_key
    on conflict do nothing returning producer_id, idempotency_key
  ),
  settled as materialized (
    select d.n, d.is_sent and d.idempotency_key is not null and k.producer_id is null as is_repeated, d.is_sent, d.answer
    from decided d left join keys k on k.producer_id = d.producer and k.idempotency_key = d.idempotency_key
  ),
  wanted as materialized (
    select r.user_id, r.id, r.n, row_number() over (partition by r.user_id order by r.n) as nth,
      count(*) over (partition by r.user_id) as count
    from named r join settled s on s.n = r.n and s.is_sent and not s.is_repeated
    where r.user_id is not null and r.mention = 1
  ),
  boxes as (
    insert into inbox (user_id, version, last_seq, total, unread, unseen)
    select user_id, count, count, count, count, count from wanted where nth = 1 order by user_id
    on conflict (user_id) do update set
      version = inbox.version + excluded.version, last_seq = inbox.last_seq + excluded.last_seq,
      total = inbox.total + excluded.total, unread = inbox.unread + excluded.unread, unseen = inbox.unseen + excluded.unseen
    returning user_id, version, last_seq, reach
  ),
  notes as (
    insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at, look,
      expires_at, priority, producer)
    select w.user_id, b.last_seq - w.count + w.nth, w.id, b.version - w.count + w.nth, d.title, d.body, d.url, d.category, d.data,
      d.created_at, d.look, d.expires_at, d.priority, nullif(d.number, 0)
    from wanted w join boxes b on b.user_id = w.user_id join decided d on d.n = w.n
  ),
  -- PostgreSQL locks the inboxes before it runs this part.
  counted as (
    insert into inbox_category (user_id, category, total, unread)
    select b.user_id, d.category, count(*), count(*)
    from wanted w join boxes b on b.user_id = w.user_id join delivered d on d.n = w.n
    where d.category is not null group by b.user_id, d.category
    on conflict (user_id, category) do update set
      total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread
  )
  select array_agg(case when not is_repeated then answer end order by n), (select array_agg(user_id) from wanted where nth = 1), (
      select json_agg(json_build_object('user_id', b.user_id, 'seq', b.last_seq - w.count + w.nth, 'version', b.version - w.count + w.nth,
        'rule', case when b.reach & 1 = 1 and batch ->> 'mail_unread' is not null then
          coalesce((select c.mail from category c where c.application = d.application and c.name = d.category), batch ->> 'mail_unread') end,
        'push_at', case when b.reach & 2 = 2 then d.at + (batch ->> 'push_delay')::bigint end))
      from boxes b join wanted w on w.user_id = b.user_id join delivered d on d.n = w.n where b.reach & 3 > 0
    ), (
      select json_agg(json_build_object('user_id', b.user_id, 'seq', b.last_seq - w.count + w.nth, 'version', b.version - w.count + w.nth,
        'marks', d.watch ->> 'marks', 'arrivals', d.watch ->> 'arrivals', 'due', d.watch ->> 'due'))
      from boxes b join wanted w on w.user_id = b.user_id join delivered d on d.n = w.n
      where d.watch is not null and (batch ->> 'is_watched')::boolean
    )
    into answers, delivered_to, reminders, watched from settled;
  perform refuse_erased(delivered_to);
  -- A separate statement sees timers that another transaction changed before it released inboxes.
  if reminders is not null then
    insert into reminder (user_id, channel, due_at, from_seq, from_version)
    select r.user_id, d.channel, min(d.at), min(r.seq), min(r.version)
    from json_to_recordset(reminders) as r (user_id text, seq bigint, version bigint, rule text, push_at bigint)
    cross join lateral (values ('mail', (batch -> 'due' ->> r.rule)::bigint), ('push', r.push_at)) as d (channel, at)
    where d.at is not null and (
      select true from reminder m where m.user_id = r.user_id and m.channel = d.channel and m.due_at <= d.at
    ) is null
    group by r.user_id, d.channel order by r.user_id, d.channel
    on conflict (user_id, channel) do update set due_at = excluded.due_at;
  end if;
  if watched is not null then
    perform watch_arrived(watched);
  end if;
  return answers;
end $$;

-- The timers of webhooks (server/inbox/reminders.store.ts).
create or replace function watch_arrived(watched json) returns void language plpgsql as $$
begin
  update inbox set reach = reach | 8 where reach & 8 = 0 and user_id = any(array(
    select user_id from json_to_recordset(watched) as w (user_id text, marks boolean) where marks order by user_id
  ));
  insert into reminder (user_id, channel, due_at, from_seq, from_version)
    select user_id, 'webhook', 0, min(seq), min(version) - 1
    from json_to_recordset(watched) as w (user_id text, seq bigint, version bigint, arrivals boolean)
    where arrivals group by user_id order by user_id
    on conflict (user_id, channel) do nothing;
  insert into reminder (user_id, channel, due_at, from_seq, from_version)
    select user_id, 'unread', min(due), min(seq), min(version)
    from json_to_recordset(watched) as w (user_id text, seq bigint, version bigint, due bigint)
    where due is not null and (
      select true from reminder m where m.user_id = w.user_id and m.channel = 'unread' and m.due_at <= w.due
    ) is null
    group by user_id order by user_id
    on conflict (user_id, channel) do update set due_at = excluded.due_at;
end $$;

-- After an erasure before the lock, the delivery is rolled back and runs again. Later erasures
-- wait.
create or replace function refuse_erased(users text[]) returns void language plpgsql as $$
begin
  if exists (select from unnest(users) w where (select u.id from "user" u where u.id = w) is null) then
    raise exception 'carillon: a recipient was erased during the delivery' using errcode = '40001';
  end if;
end $$;
