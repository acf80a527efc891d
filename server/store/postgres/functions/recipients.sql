-- Who receives a delivery: finds the users that a request names, and creates those that are new. users[i] is the id of the i-th
-- recipient's user, or null if there is no such user. issuers[i] is the namespace of an external id: a user is found in that one only. For
-- a username or a user id, it is what the user's own has to begin with, which is the application of the producer; null for any user.

create or replace function recipient_users(usernames text[], user_ids text[], external_ids text[], issuers text[])
returns text[] language plpgsql stable as $$
begin
  return array(
    select coalesce(by_name.id, by_id.id, by_external_id.id)
    from unnest(usernames, user_ids, external_ids, issuers) with ordinality
      as w (username, user_id, external_id, issuer, position)
    left join "user" by_name on by_name.username = w.username
      and starts_with(by_name.issuer, coalesce(w.issuer, ''))
    left join "user" by_id on by_id.id = w.user_id and starts_with(by_id.issuer, coalesce(w.issuer, ''))
    left join "user" by_external_id on by_external_id.external_id = w.external_id and by_external_id.issuer = w.issuer
    order by w.position
  );
end $$;

-- The positions of the recipients that have no user and get none, counted from 0.
create or replace function unknown_recipients(users text[], external_ids text[], new_ids text[])
returns bigint[] language plpgsql immutable as $$
begin
  return array(
    select w.position - 1
    from unnest(users, external_ids, new_ids) with ordinality as w (user_id, external_id, new_id, position)
    where w.user_id is null and (w.external_id is null or w.new_id is null) order by w.position
  );
end $$;

-- The order of the rows is the same in every delivery, and a delivery creates users before it locks an inbox, so that two
-- deliveries cannot deadlock. If another one creates the same user at the same time, this one waits and uses that user.
create or replace function create_recipients(
  users text[], external_ids text[], issuers text[], new_ids text[], moment bigint
) returns void language plpgsql as $$
begin
  perform lock_users();
  insert into "user" (id, external_id, issuer, created_at)
    select distinct on (w.external_id collate "C", w.issuer collate "C") w.new_id, w.external_id, w.issuer, moment
    from unnest(users, external_ids, issuers, new_ids) with ordinality as w (user_id, external_id, issuer, new_id, position)
    where w.user_id is null and w.external_id is not null and w.new_id is not null
    order by w.external_id collate "C", w.issuer collate "C", w.position
    on conflict (external_id, issuer) where external_id is not null do nothing;
end $$;

-- A user can be erased after the delivery found the user and before it locked the inbox. Each statement sees what was committed
-- before it, and after the inbox's row is locked, an erasure waits.
create or replace function refuse_erased(users text[]) returns void language plpgsql as $$
begin
  if exists (
    select from unnest(users) as w (user_id)
    where w.user_id is not null and not exists (select from "user" u where u.id = w.user_id)
  ) then
    perform raise_erased();
  end if;
end $$;

create or replace function raise_erased() returns void language plpgsql as $$
begin
  raise exception 'carillon: a recipient was erased during the delivery' using errcode = 'CA002';
end $$;

-- Each known recipient once, with the id that the request gave first.
create or replace function known_recipients(users text[], ids text[])
returns table (user_id text, id text) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
    select distinct on (w.user_id) w.user_id, w.id
    from unnest(users, ids) with ordinality as w (user_id, id, position)
    where w.user_id is not null order by w.user_id, w.position;
end $$;

-- What the producer receives. `outcome` has for each known user an array: the notification's id and the status.
create or replace function delivery_outcome(delivery_id text, users text[], outcome jsonb)
returns text language plpgsql stable as $$
begin
  return (
    select json_build_object('deliveryId', delivery_id, 'results', json_agg(json_build_object(
      'userId', w.user_id, 'id', outcome -> w.user_id ->> 0,
      'status', coalesce(outcome -> w.user_id ->> 1, 'unknown_recipient')
    ) order by w.position))::text
    from unnest(users) with ordinality as w (user_id, position)
  );
end $$;
