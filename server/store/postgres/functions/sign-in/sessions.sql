-- Add a session, and end sessions with the tokens of their sign-ins. The user's row is locked, so that the user cannot be disabled at the same time.

-- The notice is part of the commit: the other processes receive it even if this process dies right after the commit.
create or replace function tell_session_ended(of_user text) returns void language plpgsql as $$
begin
  perform pg_notify('carillon', json_build_object('session', of_user)::text);
end $$;

-- Ends sessions one by one, each found by its whole key, and returns those that existed. It returns no row of the table itself: a call that
-- waits for a migration, which adds a column, would fail with 42804.
create or replace function ended_sessions(of_users text[], of_hashes text[], moment bigint, cut_until bigint)
returns table (
  user_id text, secret_hash text, username text, created_at bigint, last_seen_at bigint, sign_in_id text, had_tokens boolean
) language plpgsql as $$
begin
  for i in 1 .. cardinality(of_users) loop
    delete from session s where s.user_id = of_users[i] and s.secret_hash = of_hashes[i]
      returning s.user_id, s.secret_hash, s.username, s.created_at, s.last_seen_at, s.sign_in_id,
        s.has_tokens = 1
      into user_id, secret_hash, username, created_at, last_seen_at, sign_in_id, had_tokens;
    if found then
      perform tell_session_ended(user_id);
      if had_tokens then
        perform cut_tokens(user_id, sign_in_id, moment, cut_until);
      end if;
      return next;
    end if;
  end loop;
end $$;

-- The sign-in of a session that a token is given for. Without a session, it is null.
create or replace function sign_in_of_session(
  of_user text, of_hash text, out sign_in text, out generation bigint, out created bigint, out last_seen bigint
) language plpgsql as $$
begin
  update session set has_tokens = 1 where user_id = of_user and secret_hash = of_hash and has_tokens = 0;
  select s.sign_in_id, u.credential_generation, s.created_at, s.last_seen_at
    into sign_in, generation, created, last_seen
    from session s join "user" u on u.id = s.user_id where s.user_id = of_user and s.secret_hash = of_hash;
end $$;

create or replace function confirm_session(of_user text, of_hash text, moment bigint, audit_entries jsonb)
returns boolean language plpgsql as $$
begin
  update session set confirmed_at = moment where user_id = of_user and secret_hash = of_hash;
  if not found then return false; end if;
  perform record_audit(audit_entries);
  return true;
end $$;

-- in_detail: signInId, device and address; maxSessions and from (as note_device) if they are given. Returns the users and sign-ins of
-- the sessions that ended, and how well the device was known; null if the session was refused.
create or replace function start_session(
  of_user text, of_hash text, checked_generation bigint, moment bigint, old_users text[], old_hashes text[], cut_until bigint,
  in_detail jsonb, audit_entries jsonb
) returns jsonb language plpgsql as $$
declare
  name text;
  surplus text[];
  ended jsonb;
begin
  perform lock_users();
  -- Sign-ins of one user take turns: otherwise each of two could count without the other.
  select coalesce(username, '') into name from "user"
    where id = of_user and disabled_at is null and credential_generation = checked_generation
      and device_generation = coalesce((in_detail -> 'from' ->> 'deviceGeneration')::bigint, device_generation)
    for no key update;
  if not found then return null; end if;
  insert into session (user_id, secret_hash, username, created_at, last_seen_at, sign_in_id, device, address, has_tokens)
    values (of_user, of_hash, name, moment, moment,
      in_detail ->> 'signInId', in_detail ->> 'device', in_detail ->> 'address', 0);
  perform record_audit(audit_entries);
  ended := end_sessions_listed(old_users, old_hashes, moment, cut_until);
  if in_detail ? 'maxSessions' then
    -- Never the new one, whatever the clock says.
    surplus := array(select secret_hash from session where user_id = of_user and secret_hash <> of_hash
      order by created_at desc, secret_hash offset (in_detail ->> 'maxSessions')::bigint - 1);
    ended := ended || end_sessions_listed(array_fill(of_user, array[cardinality(surplus)]), surplus, moment, cut_until);
  end if;
  return jsonb_build_object('ended', ended, 'device', note_device(of_user, in_detail -> 'from', moment));
end $$;

create or replace function end_sessions_listed(of_users text[], of_hashes text[], moment bigint, cut_until bigint)
returns jsonb language plpgsql as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('userId', user_id, 'signInId', sign_in_id, 'hadTokens', had_tokens)), '[]')
    from ended_sessions(of_users, of_hashes, moment, cut_until)
  );
end $$;
