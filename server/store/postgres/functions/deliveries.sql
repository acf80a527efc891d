-- A delivery and the record of its idempotency key. Rows of "inbox" are locked in the order of user_id, so that two
-- deliveries cannot deadlock. Each statement of a PL/pgSQL function sees what was committed before that statement: after the
-- inbox's row is locked, its notifications are read in their current state.

-- Every function is PL/pgSQL: Citus cannot plan an SQL function that has parameters, and PostgreSQL before 18 plans such a
-- function again at every call.

create or replace function count_in_category(of_user text, of_category text, more bigint, more_unread bigint)
returns void language plpgsql as $$
begin
  if of_category is null then return; end if;
  insert into inbox_category (user_id, category, total, unread) values (of_user, of_category, more, more_unread)
  on conflict (user_id, category) do update set
    total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread;
end $$;

create or replace function deliver_new(
  delivery_id text, users text[], ids text[], given notification
) returns text language plpgsql as $$
declare
  answer_text text;
begin
  -- On Citus the inboxes are on several nodes, and one statement cannot write to all of them.
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    if cardinality(ids) <= max_one_by_one() then
      return deliver_one_by_one(delivery_id, users, ids, given);
    end if;
    return deliver_by_shard(delivery_id, users, ids, given);
  end if;
  with wanted as materialized (
    select * from unnest(users, ids) with ordinality as w (user_id, id, position)
  ),
  once as materialized (
    select distinct on (user_id) user_id, id from wanted where user_id is not null order by user_id, position
  ),
  boxes as (
    insert into inbox (user_id, version, first_seq, last_seq, total, unread, read_through)
    select user_id, 1, 1, 1, 1, 1, 0 from once order by user_id
    on conflict (user_id) do update set
      version = inbox.version + 1, last_seq = inbox.last_seq + 1,
      total = inbox.total + 1, unread = inbox.unread + 1
    returning user_id, version, last_seq
  ),
  notes as (
    insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at)
    select boxes.user_id, boxes.last_seq, once.id, boxes.version, given.title, given.body, given.url, given.category, given.data,
      given.created_at
    from boxes join once using (user_id)
  ),
  counted as (
    insert into inbox_category (user_id, category, total, unread)
    select user_id, given.category, 1, 1 from boxes where given.category is not null
    on conflict (user_id, category) do update set
      total = inbox_category.total + 1, unread = inbox_category.unread + 1
  )
  select json_build_object('deliveryId', delivery_id, 'results', json_agg(json_build_object(
    'userId', wanted.user_id, 'id', once.id,
    'status', case when wanted.user_id is null then 'unknown_recipient' else 'delivered' end
  ) order by wanted.position))::text into answer_text
  from wanted left join once using (user_id);
  return answer_text;
end $$;

-- On Citus, a delivery with more recipients is made by shard instead of user by user. Measured (tools/store-speed.ts): user
-- by user, 100 users take 0.09 s, with a key 0.18 s; by shard, 1,000 users take 0.3 s, with a key 1.0 s, and few users take
-- nearly as long.
create or replace function max_one_by_one() returns integer language plpgsql immutable as $$
begin
  return 100;
end $$;

-- A delivery by shard locks the inboxes in no fixed order. It waits until no other delivery to several users is in progress,
-- so that two deliveries cannot deadlock.
create or replace function lock_deliveries(ids text[], alone boolean) returns void language plpgsql as $$
begin
  if cardinality(ids) < 2 or to_regclass('pg_catalog.pg_dist_partition') is null then return; end if;
  if alone then
    perform pg_advisory_xact_lock(hashtext('carillon deliveries'));
    -- One connection to each node. Otherwise Citus opens up to 16, and each takes part in the two-phase commit.
    perform set_config('citus.max_adaptive_executor_pool_size', '1', true);
  else perform pg_advisory_xact_lock_shared(hashtext('carillon deliveries'));
  end if;
end $$;

-- deliver_new on Citus: each statement names one user, so that it runs on one node. The users come in the order of user_id.
create or replace function deliver_one_by_one(
  delivery_id text, users text[], ids text[], given notification
) returns text language plpgsql as $$
declare
  one record;
  of_version bigint;
  of_seq bigint;
  outcome jsonb := '{}';
begin
  perform lock_deliveries(ids, alone => false);
  for one in select k.user_id, k.id from known_recipients(users, ids) k order by k.user_id loop
    insert into inbox as box (user_id, version, first_seq, last_seq, total, unread, read_through)
      values (one.user_id, 1, 1, 1, 1, 1, 0)
      on conflict (user_id) do update set
        version = box.version + 1, last_seq = box.last_seq + 1, total = box.total + 1, unread = box.unread + 1
      returning version, last_seq into of_version, of_seq;
    insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at)
      values (one.user_id, of_seq, one.id, of_version, given.title, given.body, given.url, given.category, given.data,
        given.created_at);
    perform count_in_category(one.user_id, given.category, 1, 1);
    outcome := outcome || jsonb_build_object(one.user_id, jsonb_build_array(one.id, 'delivered'));
  end loop;
  return delivery_outcome(delivery_id, users, outcome);
end $$;

-- deliver_new on Citus for many users: one statement for each table, which Citus splits by shard.
create or replace function deliver_by_shard(
  delivery_id text, users text[], ids text[], given notification
) returns text language plpgsql as $$
#variable_conflict use_column
declare
  box record;
  outcome jsonb;
  box_users text[] := '{}';
  note_ids text[] := '{}';
  versions bigint[] := '{}';
  seqs bigint[] := '{}';
begin
  select coalesce(jsonb_object_agg(k.user_id, jsonb_build_array(k.id, 'delivered')), '{}') into outcome
    from known_recipients(users, ids) k;
  perform lock_deliveries(ids, alone => true);
  for box in
    insert into inbox as known (user_id, version, first_seq, last_seq, total, unread, read_through)
    select k, 1, 1, 1, 1, 1, 0 from unnest(array(select jsonb_object_keys(outcome))) k
    on conflict (user_id) do update set
      version = known.version + 1, last_seq = known.last_seq + 1, total = known.total + 1, unread = known.unread + 1
    returning user_id, version, last_seq
  loop
    box_users := box_users || box.user_id;
    note_ids := note_ids || (outcome -> box.user_id ->> 0);
    versions := versions || box.version;
    seqs := seqs || box.last_seq;
  end loop;
  insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at)
    select u, s, i, v, given.title, given.body, given.url, given.category, given.data, given.created_at
    from unnest(box_users, seqs, note_ids, versions) as n (u, s, i, v);
  if given.category is not null then
    insert into inbox_category as known (user_id, category, total, unread)
      select u, given.category, 1, 1 from unnest(box_users) u
      on conflict (user_id, category) do update set total = known.total + 1, unread = known.unread + 1;
  end if;
  return delivery_outcome(delivery_id, users, outcome);
end $$;

-- If the user has a notification with the key, its content is replaced. With `again` it also becomes unread and the newest.
create or replace function deliver_keyed(
  delivery_id text, users text[], ids text[],
  given notification, again boolean
) returns text language plpgsql as $$
declare
  one record;
  box inbox;
  earlier notification;
  was_unread bigint;
  is_unread bigint;
  was_marked bigint;
  -- Whether an undo would make the earlier one unread.
  is_made_read boolean;
  is_kept boolean;
  new_seq bigint;
  outcome jsonb := '{}';
begin
  if cardinality(ids) > max_one_by_one() and to_regclass('pg_catalog.pg_dist_partition') is not null then
    return deliver_keyed_by_shard(delivery_id, users, ids, given, again);
  end if;
  perform lock_deliveries(ids, alone => false);
  for one in select k.user_id, k.id from known_recipients(users, ids) k order by k.user_id loop
    -- A new row is locked in the same order as an existing one, or two deliveries could deadlock.
    insert into inbox (user_id, version, first_seq, last_seq, total, unread, read_through)
      values (one.user_id, 0, 1, 0, 0, 0, 0) on conflict do nothing;
    select * into box from inbox where user_id = one.user_id for update;
    if not found then perform raise_erased(); end if;
    select * into earlier from notification where user_id = one.user_id and key = given.key and application = given.application;
    if earlier.seq is null then
      update inbox set version = version + 1, last_seq = last_seq + 1, total = total + 1, unread = unread + 1
        where user_id = one.user_id;
      insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at, key, application)
        values (one.user_id, box.last_seq + 1, one.id, box.version + 1, given.title, given.body, given.url, given.category,
          given.data, given.created_at, given.key, given.application);
      perform count_in_category(one.user_id, given.category, 1, 1);
      outcome := outcome || jsonb_build_object(one.user_id, jsonb_build_array(one.id, 'delivered'));
    else
      was_unread := case when is_unread_now(box, earlier) then 1 else 0 end;
      was_marked := case when earlier.seq <= box.read_through then was_unread else 0 end;
      is_kept := not again and earlier.category is distinct from given.category and earlier.seq <= box.category_through;
      if is_kept then perform keep_read_state(box, earlier); end if;
      is_made_read := was_unread = 0 and earlier.read_at is null and not is_kept and made_read_at(box, earlier) is not null;
      is_unread := case when again then 1 else was_unread end;
      new_seq := case when again then box.last_seq + 1 else earlier.seq end;
      update inbox set version = version + 1, last_seq = greatest(last_seq, new_seq), unread = unread + is_unread - was_unread,
          marked_unread = case when again then marked_unread - was_marked else marked_unread end
        where user_id = one.user_id;
      update notification set title = given.title, body = given.body, url = given.url, category = given.category,
          data = given.data, updated_at = given.created_at, seq = new_seq,
          count = case when again then count + 1 else count end,
          version = case when again then box.version + 1 else version end,
          read_at = case when again then null else read_at end,
          unread_version = case when again then null else unread_version end,
          changed_version = case when again then null else box.version + 1 end, replaced_version = box.version + 1
        where user_id = one.user_id and seq = earlier.seq;
      if again and earlier.seq = box.first_seq then
        update inbox set first_seq = (select min(n.seq) from notification n where n.user_id = one.user_id)
          where user_id = one.user_id;
      end if;
      if is_made_read and again then perform leave_undo(one.user_id, box.undo_version, earlier.category);
      elsif is_made_read then
        update inbox_category set made_read = made_read - 1 where user_id = one.user_id and category = earlier.category;
      end if;
      perform count_in_category(one.user_id, earlier.category, -1, -was_unread);
      delete from inbox_category where user_id = one.user_id and category = earlier.category and total = 0;
      perform count_in_category(one.user_id, given.category, 1, is_unread);
      if is_made_read and not again then
        update inbox_category set made_read = made_read + 1 where user_id = one.user_id and category = given.category;
      end if;
      outcome := outcome || jsonb_build_object(one.user_id, jsonb_build_array(earlier.id, 'updated'));
    end if;
  end loop;
  return delivery_outcome(delivery_id, users, outcome);
end $$;

-- deliver_keyed on Citus for many users: one statement for each table, which Citus splits by shard.
create or replace function deliver_keyed_by_shard(
  delivery_id text, users text[], ids text[],
  given notification, again boolean
) returns text language plpgsql as $$
#variable_conflict use_column
declare
  box record;
  earlier record;
  once jsonb;
  one_box inbox;
  one_note notification;
  is_unread boolean;
  is_made_read boolean;
  boxes jsonb := '{}';
  outcome jsonb := '{}';
  old_users text[] := '{}';
  old_categories text[] := '{}';
  old_unread bigint[] := '{}';
  marked_users text[] := '{}';
  -- Of users for whom an undo would make the earlier one unread.
  old_made_read bigint[] := '{}';
  made_read_users text[] := '{}';
  lowest_users text[] := '{}';
  new_users text[] := '{}';
begin
  select coalesce(jsonb_object_agg(k.user_id, k.id), '{}') into once
    from known_recipients(users, ids) k;
  perform lock_deliveries(ids, alone => true);
  -- Locks every inbox, so that nothing that is read after this can change.
  for box in
    insert into inbox as known (user_id, version, first_seq, last_seq, total, unread, read_through)
    select k, 1, 1, 0, 0, 0, 0 from unnest(array(select jsonb_object_keys(once))) k
    on conflict (user_id) do update set version = known.version + 1
    returning user_id, version, first_seq, last_seq, read_through, read_version, category_through
  loop
    boxes := boxes || jsonb_build_object(box.user_id, jsonb_build_array(
      box.version, box.last_seq, box.read_through, box.first_seq, box.read_version, box.category_through));
  end loop;
  for earlier in
    select n.user_id, n.seq, n.id, n.category, n.read_at, n.unread_version, coalesce(
        n.read_at is null and n.seq <= m.through_seq and coalesce(n.unread_version, 0) < m.version
          and (n.seq > m.before_through or n.unread_version >= m.before_version), false) as is_made_read
    from notification n
    join inbox b on b.user_id = n.user_id
    left join read_mark m on m.user_id = n.user_id and m.version = b.undo_version
    where n.user_id = any (array(select jsonb_object_keys(boxes))) and n.key = given.key and n.application = given.application
  loop
    old_users := old_users || earlier.user_id;
    old_categories := old_categories || earlier.category;
    is_unread := earlier.read_at is null and (earlier.seq > (boxes -> earlier.user_id ->> 2)::bigint
      or coalesce(earlier.unread_version, -1) >= (boxes -> earlier.user_id ->> 4)::bigint);
    is_made_read := earlier.is_made_read;
    -- The read-alls of its category are read for each user alone: few inboxes had one.
    if earlier.seq <= (boxes -> earlier.user_id ->> 5)::bigint then
      select * into one_box from inbox where user_id = earlier.user_id;
      one_box.version := one_box.version - 1;
      select * into one_note from notification where user_id = earlier.user_id and seq = earlier.seq;
      is_unread := is_unread_now(one_box, one_note);
      is_made_read := earlier.read_at is null and made_read_at(one_box, one_note) is not null;
      if not again and earlier.category is distinct from given.category then
        perform keep_read_state(one_box, one_note);
        is_made_read := false;
      end if;
    end if;
    old_unread := old_unread || is_unread::integer::bigint;
    if is_unread and earlier.seq <= (boxes -> earlier.user_id ->> 2)::bigint then
      marked_users := marked_users || earlier.user_id;
    end if;
    old_made_read := old_made_read || is_made_read::integer::bigint;
    if is_made_read then made_read_users := made_read_users || earlier.user_id; end if;
    if again and earlier.seq = (boxes -> earlier.user_id ->> 3)::bigint then
      lowest_users := lowest_users || earlier.user_id;
    end if;
    outcome := outcome || jsonb_build_object(earlier.user_id, jsonb_build_array(earlier.id, 'updated'));
  end loop;
  new_users := array(select u from jsonb_object_keys(boxes) u where not outcome ? u);

  if cardinality(old_users) > 0 then
    update notification n set title = given.title, body = given.body, url = given.url, category = given.category,
        data = given.data, updated_at = given.created_at,
        seq = case when again then b.last_seq + 1 else n.seq end,
        count = case when again then n.count + 1 else n.count end,
        version = case when again then b.version else n.version end,
        read_at = case when again then null else n.read_at end,
        unread_version = case when again then null else n.unread_version end,
        changed_version = case when again then null else b.version end, replaced_version = b.version
      from inbox b
      where b.user_id = n.user_id and n.user_id = any (old_users) and n.key = given.key and n.application = given.application;
    insert into inbox_category as known (user_id, category, total, unread, made_read)
      select u, c, -1, -r, -m from unnest(old_users, old_categories, old_unread, old_made_read) as o (u, c, r, m)
      where c is not null
      on conflict (user_id, category) do update set
        total = known.total + excluded.total, unread = known.unread + excluded.unread,
        made_read = known.made_read + excluded.made_read;
    delete from inbox_category where user_id = any (old_users) and total = 0;
  end if;
  if again and cardinality(old_users) > 0 then
    update inbox set last_seq = last_seq + 1,
        unread = unread + case when user_id = any (
          array(select u from unnest(old_users, old_unread) as o (u, r) where r = 0)) then 1 else 0 end,
        marked_unread = marked_unread - case when user_id = any (marked_users) then 1 else 0 end
      where user_id = any (old_users);
    update read_mark m set made_read = m.made_read - 1
      from inbox b
      where b.user_id = m.user_id and m.version = b.undo_version and m.user_id = any (made_read_users);
    update inbox b set first_seq = n.seq
      from (select user_id, min(seq) as seq from notification where user_id = any (lowest_users) group by user_id) n
      where b.user_id = n.user_id and b.user_id = any (lowest_users);
    old_unread := array_fill(1::bigint, array[cardinality(old_users)]);
    old_made_read := array_fill(0::bigint, array[cardinality(old_users)]);
  end if;
  if cardinality(new_users) > 0 then
    update inbox set last_seq = last_seq + 1, total = total + 1, unread = unread + 1 where user_id = any (new_users);
    insert into notification (user_id, seq, id, version, title, body, url, category, data, created_at, key, application)
      select u, (boxes -> u ->> 1)::bigint + 1, once ->> u, (boxes -> u ->> 0)::bigint, given.title, given.body, given.url,
        given.category, given.data, given.created_at, given.key, given.application
      from unnest(new_users) u;
    outcome := outcome || (
      select jsonb_object_agg(u, jsonb_build_array(once ->> u, 'delivered')) from unnest(new_users) u
    );
  end if;
  if given.category is not null then
    insert into inbox_category as known (user_id, category, total, unread, made_read)
      select u, given.category, 1, r, m
      from unnest(
        old_users || new_users,
        old_unread || array_fill(1::bigint, array[cardinality(new_users)]),
        old_made_read || array_fill(0::bigint, array[cardinality(new_users)])
      ) as o (u, r, m)
      on conflict (user_id, category) do update set
        total = known.total + excluded.total, unread = known.unread + excluded.unread,
        made_read = known.made_read + excluded.made_read;
  end if;
  return delivery_outcome(delivery_id, users, outcome);
end $$;

-- usernames[i], user_ids[i], or external_ids[i] of issuers[i] names the i-th recipient; ids[i] is the id of the new notification for
-- that recipient. If new_ids[i] is not null, an unknown external id becomes a user with that id. If more recipients than
-- max_unknown are unknown, it stores nothing and returns their positions, counted from 0.
create or replace function deliver_notification(
  delivery_id text, by_producer text, of_key text, of_body_hash text,
  usernames text[], user_ids text[], external_ids text[], issuers text[], new_ids text[], ids text[], max_unknown integer,
  given notification, again boolean, moment bigint
) returns text language plpgsql as $$
declare
  earlier delivery;
  users text[];
  unknown bigint[];
  answer_text text;
begin
  if of_key is not null then
    perform lock_outcomes();
    loop
      insert into delivery (producer_id, idempotency_key, body_hash, answer, at)
        values (by_producer, of_key, of_body_hash, '', moment) on conflict do nothing;
      exit when found;
      -- Not found if it was removed in between: then this is the first use of the key again.
      select * into earlier from delivery where producer_id = by_producer and idempotency_key = of_key;
      if found then
        return case when earlier.body_hash = of_body_hash then earlier.answer else 'mismatch' end;
      end if;
    end loop;
  end if;
  users := recipient_users(usernames, user_ids, external_ids, issuers);
  if array_position(users, null) is not null then
    unknown := unknown_recipients(users, external_ids, new_ids);
    if cardinality(unknown) > max_unknown then
      delete from delivery where producer_id = by_producer and idempotency_key = of_key;
      return json_build_object('unknown', unknown)::text;
    end if;
    -- Otherwise all of these are unknown.
    if cardinality(unknown) < cardinality(array_positions(users, null)) then
      perform create_recipients(users, external_ids, issuers, new_ids, moment);
      users := recipient_users(usernames, user_ids, external_ids, issuers);
    end if;
  end if;
  if given.key is null then
    answer_text := deliver_new(delivery_id, users, ids, given);
  else
    answer_text := deliver_keyed(delivery_id, users, ids, given, again);
  end if;
  perform refuse_erased(users);
  if of_key is not null then
    update delivery set answer = answer_text where producer_id = by_producer and idempotency_key = of_key;
  end if;
  return answer_text;
end $$;

-- deliver_notification, unless the key of the producer was revoked or has another secret since the caller checked it. Without a
-- secret_hash nothing is checked: the service itself delivers.
create or replace function deliver_checked(
  of_secret_hash text, delivery_id text, by_producer text, of_key text, of_body_hash text,
  usernames text[], user_ids text[], external_ids text[], issuers text[], new_ids text[], ids text[], max_unknown integer,
  given notification, again boolean, moment bigint
) returns text language plpgsql as $$
begin
  if of_secret_hash is not null and not exists (
    select from producer where id = by_producer and secret_hash = of_secret_hash and revoked_at is null
  ) then
    return 'refused';
  end if;
  return deliver_notification(delivery_id, by_producer, of_key, of_body_hash, usernames, user_ids, external_ids, issuers,
    new_ids, ids, max_unknown, given, again, moment);
end $$;
