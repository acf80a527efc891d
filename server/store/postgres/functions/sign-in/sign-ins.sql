-- List and end the sign-ins of a user, with or without an exception, and note the devices that users sign in from.

-- The excepted sign-in is alive if its session is stored, or if its token has the user's generation or was spared by the revocation
-- that raised it. Otherwise a request that began before its sign-in ended could revive it (T7). The caller has locked the user's row.
create or replace function is_exception_alive(of_user text, spared text, spared_generation bigint)
returns boolean language plpgsql as $$
declare
  generation bigint;
begin
  if spared is null then return true; end if;
  perform 1 from session where user_id = of_user and sign_in_id = spared;
  if found then return true; end if;
  perform 1 from token_cutoff where user_id = of_user and sign_in_id = spared;
  if found or spared_generation is null then return false; end if;
  select credential_generation into generation from "user" where id = of_user;
  if generation = spared_generation then return true; end if;
  perform 1 from token_cutoff where user_id = of_user and sign_in_id = '' and except_sign_in_id = spared;
  return found;
end $$;

-- After the credential generation was raised.
create or replace function end_proofs_except(of_user text, generation bigint, spared text, moment bigint, cut_until bigint)
returns void language plpgsql as $$
begin
  delete from session where user_id = of_user and (spared is null or sign_in_id <> spared);
  perform tell_session_ended(of_user);
  perform cut_tokens(of_user, '', moment, cut_until);
  update token_cutoff set first_generation = generation, except_sign_in_id = spared
    where user_id = of_user and sign_in_id = '';
end $$;

-- Returns 'done', or 'refused' if the excepted sign-in has ended.
create or replace function end_other_sign_ins(
  of_user text, moment bigint, cut_until bigint, spared text, spared_generation bigint, audit_entries jsonb
) returns text language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for no key update;
  if not is_exception_alive(of_user, spared, spared_generation) then return 'refused'; end if;
  update "user" set credential_generation = credential_generation + 1
    where id = of_user returning credential_generation into generation;
  perform end_proofs_except(of_user, generation, spared, moment, cut_until);
  perform record_audit(audit_entries);
  return 'done';
end $$;

-- The stateless sign-ins that are alive: the audit log has their start and no end, and no revocation names them, by id or generation.
create or replace function token_sign_ins(of_user text, since_id text)
returns table (sign_in text, created bigint, last_seen bigint, agent text, from_address text) language plpgsql as $$
declare
  current_generation text;
  spared text;
begin
  select credential_generation::text into current_generation from "user" where id = of_user;
  select except_sign_in_id into spared from token_cutoff where user_id = of_user and sign_in_id = '';
  return query
    select a.sign_in_id, min(a.at) filter (where a.event = 'sign-in'), max(a.at),
      max(a.user_agent) filter (where a.event = 'sign-in'), max(a.address) filter (where a.event = 'sign-in')
    from audit a
    where a.user_id = of_user and a.id >= since_id and a.sign_in_id is not null
      and not exists (select 1 from token_cutoff c where c.user_id = of_user and c.sign_in_id = a.sign_in_id)
    group by a.sign_in_id
    having bool_or(a.event = 'sign-in' and a.detail::jsonb ->> 'variant' = 'stateless'
        and (a.detail::jsonb ->> 'generation' = current_generation or a.sign_in_id = spared))
      and not bool_or(a.event in ('sign-out', 'session-ended', 'sign-in-disowned'));
end $$;

-- seen: label, network, isKnown and keep, and deviceGeneration, which the caller has checked. The caller has locked the user's row.
create or replace function note_device(of_user text, seen jsonb, moment bigint) returns text language plpgsql as $$
declare
  is_known constant boolean := (seen ->> 'isKnown')::boolean;
begin
  if seen is null then return null; end if;
  update known_device set last_seen_at = greatest(last_seen_at, moment)
    where user_id = of_user and label = seen ->> 'label' and network = seen ->> 'network';
  if found then return 'known'; end if;
  perform 1 from known_device where user_id = of_user limit 1;
  if found and not is_known then return 'new'; end if;
  insert into known_device (user_id, label, network, first_seen_at, last_seen_at)
    values (of_user, seen ->> 'label', seen ->> 'network', moment, moment);
  delete from known_device where user_id = of_user and (label, network) in (
    select label, network from known_device where user_id = of_user
    order by last_seen_at desc, first_seen_at desc, label, network offset (seen ->> 'keep')::bigint);
  return case when is_known then 'known' else 'first' end;
end $$;

-- A sign-in that the store keeps no row of, or a device that the user now knows of. Null without such a user
-- of this device generation.
create or replace function note_sign_in(of_user text, seen jsonb, moment bigint, audit_entries jsonb)
returns text language plpgsql as $$
begin
  perform lock_users();
  perform 1 from "user"
    where id = of_user and device_generation = coalesce((seen ->> 'deviceGeneration')::bigint, device_generation)
    for no key update;
  if not found then return null; end if;
  perform record_audit(audit_entries);
  return note_device(of_user, seen, moment);
end $$;

-- alive: createdAfter, lastSeenAfter, lastSeenUntil and sinceId. Returns the variant, or null if there is no such sign-in.
create or replace function end_sign_in(
  of_user text, sign_in text, alive jsonb, is_own boolean, disowned jsonb, moment bigint, cut_until bigint, audit_entries jsonb
) returns text language plpgsql as $$
declare
  variant text := 'stateful';
begin
  if disowned is not null then
    perform lock_users();
    perform 1 from "user" where id = of_user for no key update;
  end if;
  perform 1 from session where user_id = of_user and sign_in_id = sign_in and created_at > (alive ->> 'createdAfter')::bigint
    and last_seen_at > (alive ->> 'lastSeenAfter')::bigint and last_seen_at <= (alive ->> 'lastSeenUntil')::bigint for update;
  if not found then
    variant := 'stateless';
    if not is_own then
      perform 1 from token_sign_ins(of_user, alive ->> 'sinceId') t where t.sign_in = end_sign_in.sign_in;
      -- A sign-in that has ended can still be disowned. Its entry has the time of its id.
      if not found and disowned is not null then
        perform 1 from audit a where a.user_id = of_user and a.id >= substr(end_sign_in.sign_in, 1, 13)
          and a.sign_in_id = end_sign_in.sign_in and a.event = 'sign-in' limit 1;
      end if;
      if not found then return null; end if;
    end if;
  end if;
  -- Ends the session too.
  perform cut_tokens(of_user, sign_in, moment, cut_until);
  if disowned is not null then
    update "user" set device_generation = device_generation + 1, password_reported_at = moment where id = of_user;
    delete from known_device where user_id = of_user;
    perform note_device(of_user, disowned, moment);
  end if;
  perform record_audit(audit_entries);
  return variant;
end $$;
