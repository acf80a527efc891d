-- The first schema: the tables and columns of SQLite's, so that either engine's rows can be carried into the other. Every
-- key of an inbox begins with user_id, and what belongs to a user is hash-partitioned by it, so that a hot statement
-- touches one partition; no key spans users but the username's. Times are milliseconds since 1970, but for those that
-- are sent as they are stored (read_at, at): ISO 8601 text.

create table "user" (
  id text collate "C" primary key,
  username text collate "C" not null unique,
  display_name text,
  password_hash text not null,
  created_at bigint not null,
  disabled_at bigint
);

create table signing_key (
  kid text collate "C" primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at bigint not null
);

create table producer (
  id text collate "C" primary key,
  name text not null,
  secret_hash text not null,
  scopes text not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

-- What was answered to an Idempotency-Key; answer is null only inside the transaction that delivers.
create table delivery (
  producer_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  body_hash text not null,
  answer text,
  at bigint not null,
  primary key (producer_id, idempotency_key)
);
create index delivery_by_time on delivery (at);

create table token_cutoff (
  user_id text collate "C" not null,
  sign_in_id text collate "C" not null,
  not_before bigint not null,
  expires_at bigint not null,
  primary key (user_id, sign_in_id)
);
create index token_cutoff_by_expiry on token_cutoff (expires_at);

-- Only the SHA-256 of the cookie's secret is kept. A disabled user has no session, so that looking one up asks no further;
-- usernames never change.
create table session (
  user_id text collate "C" not null,
  secret_hash text collate "C" not null,
  username text not null,
  created_at bigint not null,
  last_seen_at bigint not null,
  primary key (user_id, secret_hash)
) partition by hash (user_id);

create table inbox (
  user_id text collate "C" primary key,
  version bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  total bigint not null,
  unread bigint not null,
  read_through bigint not null
) partition by hash (user_id);

create table inbox_category (
  user_id text collate "C" not null,
  category text collate "C" not null,
  total bigint not null,
  unread bigint not null,
  primary key (user_id, category)
) partition by hash (user_id);

-- `version` is the inbox's when it came: it rises with seq and stays. Of what was changed later, the version of its last
-- change, and of the last one that replaced its content.
create table notification (
  user_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  version bigint not null,
  content text not null,
  category text collate "C",
  key text collate "C",
  read_at text,
  changed_version bigint,
  replaced_version bigint,
  primary key (user_id, seq)
) partition by hash (user_id);
create unique index notification_by_id on notification (user_id, id);
create unique index notification_by_key on notification (user_id, key) where key is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
create index notification_unread on notification (user_id, seq) include (category) where read_at is null;

-- One row per read-all that changed something: everything up to through_seq was read at that moment.
create table read_mark (
  user_id text collate "C" not null,
  version bigint not null,
  through_seq bigint not null,
  at text not null,
  primary key (user_id, version)
) partition by hash (user_id);
create unique index read_mark_by_seq on read_mark (user_id, through_seq) include (at);

do $$
declare
  partitioned text;
begin
  foreach partitioned in array array['session', 'inbox', 'inbox_category', 'notification', 'read_mark'] loop
    for part in 0 .. {{partitions}} - 1 loop
      execute format(
        'create table %I partition of %I for values with (modulus {{partitions}}, remainder %s)',
        partitioned || '_' || part, partitioned, part
      );
    end loop;
  end loop;
end $$;

-- Statements of a function each see what was committed before them: after the inbox's row is taken, its notifications
-- are read as they are, not as they were when the call began. One call is one round trip.

create function mark_read(of_user text, of_id text, moment text) returns text language plpgsql as $$
declare
  box inbox;
  found_one notification;
begin
  select * into box from inbox where user_id = of_user for update;
  select * into found_one from notification where user_id = of_user and id = of_id;
  if found_one.seq is null then return 'absent'; end if;
  if found_one.read_at is not null or found_one.seq <= box.read_through then return 'unchanged'; end if;
  update inbox set version = version + 1, unread = unread - 1 where user_id = of_user;
  update notification set read_at = moment, changed_version = box.version + 1
    where user_id = of_user and seq = found_one.seq;
  if found_one.category is not null then
    update inbox_category set unread = unread - 1 where user_id = of_user and category = found_one.category;
  end if;
  return 'done';
end $$;

create function mark_all_read(of_user text, through_id text, moment text) returns text language plpgsql as $$
declare
  box inbox;
  through bigint;
  still_unread bigint;
begin
  select * into box from inbox where user_id = of_user for update;
  if through_id is null then
    if box.user_id is null then return 'unchanged'; end if;
    through := box.last_seq;
  else
    select seq into through from notification where user_id = of_user and id = through_id;
    if through is null then return 'absent'; end if;
  end if;
  select count(*) into still_unread from notification
    where user_id = of_user and seq > greatest(through, box.read_through) and read_at is null;
  if still_unread is not distinct from box.unread then return 'unchanged'; end if;
  update inbox set version = version + 1, read_through = through, unread = still_unread where user_id = of_user;
  insert into read_mark (user_id, version, through_seq, at) values (of_user, box.version + 1, through, moment);
  update inbox_category set unread = 0 where user_id = of_user and unread > 0;
  if still_unread > 0 then
    update inbox_category set unread = counted.unread
    from (
      select n.category, count(*) as unread from notification n
      where n.user_id = of_user and n.seq > through and n.read_at is null and n.category is not null
      group by n.category
    ) counted
    where user_id = of_user and inbox_category.category = counted.category;
  end if;
  return 'done';
end $$;

-- usernames[i] or user_ids[i] names the i-th recipient; ids[i] is the id that a new notification of his gets.
create function deliver(
  delivery_id text, by_producer text, of_key text, of_body_hash text, usernames text[], user_ids text[], ids text[],
  of_content text, of_category text, of_notification_key text, moment bigint
) returns text language plpgsql as $$
declare
  earlier delivery;
  answer_text text;
begin
  if of_key is not null then
    loop
      insert into delivery (producer_id, idempotency_key, body_hash, at)
        values (by_producer, of_key, of_body_hash, moment) on conflict do nothing;
      exit when found;
      -- Not found where it was forgotten in between: then this is the first again.
      select * into earlier from delivery where producer_id = by_producer and idempotency_key = of_key;
      if found then
        return case when earlier.body_hash = of_body_hash then earlier.answer else 'mismatch' end;
      end if;
    end loop;
  end if;
  if of_notification_key is null then
    answer_text := deliver_new(delivery_id, usernames, user_ids, ids, of_content, of_category);
  else
    answer_text := deliver_keyed(
      delivery_id, usernames, user_ids, ids, of_content, of_category, of_notification_key);
  end if;
  if of_key is not null then
    update delivery set answer = answer_text where producer_id = by_producer and idempotency_key = of_key;
  end if;
  return answer_text;
end $$;

-- Who is meant, in the order of the request; user_id is null for a recipient whom nobody knows.
create function recipients(usernames text[], user_ids text[], ids text[])
returns table ("position" bigint, user_id text, id text) language sql stable as $$
  select w.position, coalesce(by_name.id, by_id.id), w.id
  from unnest(usernames, user_ids, ids) with ordinality as w (username, user_id, id, position)
  left join "user" by_name on by_name.username = w.username
  left join "user" by_id on by_id.id = w.user_id
$$;

-- Inbox rows are taken in the order of user_id, so that two deliveries never wait for each other in a circle.
create function deliver_new(
  delivery_id text, usernames text[], user_ids text[], ids text[], of_content text, of_category text
) returns text language sql as $$
  with wanted as materialized (select * from recipients(usernames, user_ids, ids)),
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
    insert into notification (user_id, seq, id, version, content, category)
    select boxes.user_id, boxes.last_seq, once.id, boxes.version, of_content, of_category
    from boxes join once using (user_id)
  ),
  counted as (
    insert into inbox_category (user_id, category, total, unread)
    select user_id, of_category, 1, 1 from boxes where of_category is not null
    on conflict (user_id, category) do update set
      total = inbox_category.total + 1, unread = inbox_category.unread + 1
  )
  select json_build_object('deliveryId', delivery_id, 'results', json_agg(json_build_object(
    'userId', wanted.user_id, 'id', once.id,
    'status', case when wanted.user_id is null then 'unknown_recipient' else 'delivered' end
  ) order by wanted.position))::text
  from wanted left join once using (user_id)
$$;

create function deliver_keyed(
  delivery_id text, usernames text[], user_ids text[], ids text[],
  of_content text, of_category text, of_key text
) returns text language plpgsql as $$
declare
  one record;
  box inbox;
  earlier notification;
  was_unread bigint;
  outcome jsonb := '{}';
begin
  for one in
    select distinct on (user_id) user_id, id from recipients(usernames, user_ids, ids)
    where user_id is not null order by user_id, position
  loop
    -- A row that is made is taken like one that is there: one by one, or two deliveries could wait in a circle.
    insert into inbox (user_id, version, first_seq, last_seq, total, unread, read_through)
      values (one.user_id, 0, 1, 0, 0, 0, 0) on conflict do nothing;
    select * into box from inbox where user_id = one.user_id for update;
    select * into earlier from notification where user_id = one.user_id and key = of_key;
    if earlier.seq is null then
      update inbox set version = version + 1, last_seq = last_seq + 1, total = total + 1, unread = unread + 1
        where user_id = one.user_id;
      insert into notification (user_id, seq, id, version, content, category, key)
        values (one.user_id, box.last_seq + 1, one.id, box.version + 1, of_content, of_category, of_key);
      perform count_in_category(one.user_id, of_category, 1, 1);
      outcome := outcome || jsonb_build_object(one.user_id, jsonb_build_array(one.id, 'delivered'));
    else
      was_unread := case when earlier.read_at is null and earlier.seq > box.read_through then 1 else 0 end;
      update inbox set version = version + 1 where user_id = one.user_id;
      update notification set content = of_content, category = of_category,
          changed_version = box.version + 1, replaced_version = box.version + 1
        where user_id = one.user_id and seq = earlier.seq;
      perform count_in_category(one.user_id, earlier.category, -1, -was_unread);
      delete from inbox_category where user_id = one.user_id and category = earlier.category and total = 0;
      perform count_in_category(one.user_id, of_category, 1, was_unread);
      outcome := outcome || jsonb_build_object(one.user_id, jsonb_build_array(earlier.id, 'updated'));
    end if;
  end loop;
  return (
    select json_build_object('deliveryId', delivery_id, 'results', json_agg(json_build_object(
      'userId', user_id, 'id', outcome -> user_id ->> 0,
      'status', coalesce(outcome -> user_id ->> 1, 'unknown_recipient')
    ) order by position))::text
    from recipients(usernames, user_ids, ids)
  );
end $$;

create function count_in_category(of_user text, of_category text, more bigint, more_unread bigint)
returns void language sql as $$
  insert into inbox_category (user_id, category, total, unread)
  select of_user, of_category, more, more_unread where of_category is not null
  on conflict (user_id, category) do update set
    total = inbox_category.total + excluded.total, unread = inbox_category.unread + excluded.unread
$$;

-- Who may sign in. A user's row is locked against being disabled while a session of his is made.

-- A notice is part of the commit here: a process that dies right after it must not leave a proof alive elsewhere.
create function tell_session_ended(of_user text) returns void language sql as $$
  select pg_notify('carillon', json_build_object('session', of_user)::text)
$$;

create function add_session(
  of_user text, of_hash text, checked_password_hash text, moment bigint, old_user text, old_hash text
) returns boolean language plpgsql as $$
declare
  name text;
begin
  select username into name from "user"
    where id = of_user and disabled_at is null and password_hash = checked_password_hash for share;
  if not found then return false; end if;
  insert into session (user_id, secret_hash, username, created_at, last_seen_at)
    values (of_user, of_hash, name, moment, moment);
  delete from session where user_id = old_user and secret_hash = old_hash;
  if found then perform tell_session_ended(old_user); end if;
  return true;
end $$;

create function cut_tokens(of_user text, sign_in text, moment bigint, until bigint) returns void language sql as $$
  -- A few at a time, and not those that another call removes: no sign-out waits for another one.
  delete from token_cutoff where ctid = any (array(
    select ctid from token_cutoff where expires_at <= moment order by expires_at limit 100 for update skip locked
  ));
  insert into token_cutoff as known (user_id, sign_in_id, not_before, expires_at)
  values (of_user, sign_in, moment, until)
  on conflict (user_id, sign_in_id) do update set
    not_before = greatest(known.not_before, excluded.not_before),
    expires_at = greatest(known.expires_at, excluded.expires_at);
  select pg_notify('carillon', '{"cutoff":true}')
$$;

create function end_proofs(of_user text, moment bigint, cut_until bigint) returns void language sql as $$
  delete from session where user_id = of_user;
  select tell_session_ended(of_user);
  select cut_tokens(of_user, '', moment, cut_until)
$$;

create function disable_user(of_user text, moment bigint, cut_until bigint) returns boolean language plpgsql as $$
begin
  update "user" set disabled_at = coalesce(disabled_at, moment) where id = of_user;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  return true;
end $$;

create function set_password(of_user text, new_hash text, moment bigint, cut_until bigint)
returns boolean language plpgsql as $$
begin
  update "user" set password_hash = new_hash, disabled_at = null where id = of_user;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  return true;
end $$;

create function ensure_signing_key(new_kid text, public text, sealed text, moment bigint)
returns void language plpgsql as $$
begin
  lock table signing_key in exclusive mode;
  insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at)
  select new_kid, public, sealed, moment where not exists (select 1 from signing_key);
end $$;
