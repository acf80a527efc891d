-- Add and change users. Disabling a user and setting a password end all sessions and tokens of the user in the same transaction.

-- On Citus "user" is copied to every node, and a row lock locks the whole copy on each node. Two callers that upgrade such a
-- lock would deadlock. So sign-ins and changes of users take turns there.
create or replace function lock_users() returns void language plpgsql as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    perform pg_advisory_xact_lock(hashtext('carillon users'));
  end if;
end $$;

create or replace function add_new_user(
  new_id text, name text, hash text, of_external_id text, of_issuer text, of_display_name text, of_locale text, of_email text,
  moment bigint, verified bigint
) returns text language plpgsql as $$
begin
  perform lock_users();
  insert into "user" (
      id, username, password_hash, external_id, issuer, display_name, locale, email, email_verified_at, created_at
    ) values (
      new_id, name, hash, of_external_id, of_issuer, of_display_name, of_locale, of_email,
      case when of_email is not null then verified end, moment
    )
    on conflict do nothing;
  if found then return 'added'; end if;
  perform 1 from "user" where username = name;
  return case when found then 'username-taken' else 'external-id-taken' end;
end $$;

-- given: by the id that a new user gets, an object with externalId and the fields to set; every external id once. Users are
-- created, then locked, each in the order of the external ids, so that two calls cannot deadlock. The last statement is an upsert,
-- because a user can be erased before the lock. Its values come from the select: Citus has no variables in "do update".
-- A new address has no proof unless one is given with it; the time of the first proof of an address stays.
-- An entry for the audit log ("entry") is recorded for each user that is new or changed.
create or replace function store_users(of_issuer text, moment bigint, given jsonb)
returns table (one "user", changed boolean) language plpgsql as $$
declare
  ids constant text[] := array(select g.value ->> 'externalId' from jsonb_each(given) g);
  known jsonb;
  entries jsonb := '[]';
begin
  perform lock_users();
  insert into "user" (id, created_at, external_id, issuer)
    select g.key, moment, g.value ->> 'externalId', of_issuer
    from jsonb_each(given) g order by (g.value ->> 'externalId') collate "C"
    on conflict (external_id, issuer) where external_id is not null do nothing;
  perform 1 from "user" u where u.issuer = of_issuer and u.external_id = any (ids) order by u.external_id for update;
  select coalesce(jsonb_object_agg(
      u.external_id, jsonb_build_object(
        'displayName', u.display_name, 'locale', u.locale, 'email', u.email, 'emailVerifiedAt', u.email_verified_at
      )
    ), '{}') into known
    from "user" u where u.issuer = of_issuer and u.external_id = any (ids);
  for one in
    insert into "user" as stored (id, created_at, external_id, issuer, display_name, locale, email, email_verified_at)
    select g.key, moment, g.value ->> 'externalId', of_issuer,
      merged ->> 'displayName', merged ->> 'locale', merged ->> 'email',
      case
        when merged ->> 'email' is null or merged ->> 'emailVerifiedAt' is null then null
        when before ->> 'email' is distinct from merged ->> 'email' then (g.value ->> 'emailVerifiedAt')::bigint
        else coalesce(before ->> 'emailVerifiedAt', merged ->> 'emailVerifiedAt')::bigint
      end
    from jsonb_each(given) g
    cross join lateral (select coalesce(known -> (g.value ->> 'externalId'), '{}') as before) b
    cross join lateral (select before || g.value as merged) m
    order by (g.value ->> 'externalId') collate "C"
    on conflict (external_id, issuer) where external_id is not null do update set
      display_name = excluded.display_name, locale = excluded.locale, email = excluded.email,
      email_verified_at = excluded.email_verified_at
    returning stored.*
  loop
    changed := not given ? one.id and known -> one.external_id is distinct from
      jsonb_build_object(
        'displayName', one.display_name, 'locale', one.locale, 'email', one.email, 'emailVerifiedAt', one.email_verified_at
      );
    if given ? one.id then
      entries := entries || coalesce(given -> one.id -> 'entry', '[]');
    elsif changed then
      entries := entries || coalesce((
        select g.value -> 'entry' || jsonb_build_object('event', 'user-changed', 'userId', one.id)
        from jsonb_each(given) g where g.value ->> 'externalId' = one.external_id
      ), '[]');
    end if;
    return next;
  end loop;
  perform record_audit(entries);
end $$;

create or replace function update_user(of_user text, name text, profile jsonb) returns text language plpgsql as $$
begin
  perform lock_users();
  update "user" set
      username = coalesce(name, username),
      display_name = case when profile ? 'displayName' then profile ->> 'displayName' else display_name end,
      locale = case when profile ? 'locale' then profile ->> 'locale' else locale end,
      email = case when profile ? 'email' then profile ->> 'email' else email end,
      email_verified_at = case
        when case when profile ? 'email' then profile ->> 'email' else email end is null then null
        when profile -> 'emailVerifiedAt' = 'null' then null
        when profile ? 'email' and email is distinct from profile ->> 'email' then (profile ->> 'emailVerifiedAt')::bigint
        else coalesce(email_verified_at, (profile ->> 'emailVerifiedAt')::bigint)
      end
    where id = of_user;
  if not found then return 'absent'; end if;
  if name is not null then update session set username = name where user_id = of_user; end if;
  return 'done';
exception when unique_violation then
  return 'username-taken';
end $$;

create or replace function enable_user(of_user text) returns boolean language plpgsql as $$
begin
  perform lock_users();
  update "user" set disabled_at = null where id = of_user;
  return found;
end $$;

create or replace function rehash_password(of_user text, checked_hash text, new_hash text) returns boolean language plpgsql as $$
begin
  perform lock_users();
  update "user" set password_hash = new_hash where id = of_user and password_hash = checked_hash;
  return found;
end $$;

create or replace function disable_user(of_user text, moment bigint, cut_until bigint) returns boolean language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  update "user" set disabled_at = coalesce(disabled_at, moment), credential_generation = credential_generation + 1,
      device_generation = device_generation + 1
    where id = of_user returning credential_generation into generation;
  if not found then return false; end if;
  delete from one_time_link where user_id = of_user;
  perform end_proofs_except(of_user, generation, null, moment, cut_until);
  return true;
end $$;

-- Returns 'done', 'absent', or 'refused' if the excepted sign-in has ended.
create or replace function change_password(
  of_user text, new_hash text, moment bigint, cut_until bigint, spared text, spared_generation bigint, audit_entries jsonb
) returns text language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for no key update;
  if not is_exception_alive(of_user, spared, spared_generation) then return 'refused'; end if;
  update "user" set password_hash = new_hash, disabled_at = null, password_reported_at = null,
      credential_generation = credential_generation + 1
    where id = of_user returning credential_generation into generation;
  if not found then return 'absent'; end if;
  delete from one_time_link where user_id = of_user;
  perform end_proofs_except(of_user, generation, spared, moment, cut_until);
  perform record_audit(audit_entries);
  return 'done';
end $$;
