-- Add a session and end others. The user's row is locked, so that the user cannot be disabled at the same time.

-- The notice is part of the commit: the other processes receive it even if this process dies right after the commit.
create or replace function tell_session_ended(of_user text) returns void language plpgsql as $$
begin
  perform pg_notify('carillon', json_build_object('session', of_user)::text);
end $$;

-- Ends sessions one by one, each found by its whole key, and returns the rows of those that existed.
create or replace function end_sessions(of_users text[], of_hashes text[])
returns setof session language plpgsql as $$
declare
  ended session;
begin
  for i in 1 .. cardinality(of_users) loop
    delete from session where user_id = of_users[i] and secret_hash = of_hashes[i] returning * into ended;
    if found then
      perform tell_session_ended(ended.user_id);
      return next ended;
    end if;
  end loop;
end $$;

-- Returns the users whose sessions ended, or null if the session was refused.
create or replace function add_session_replacing(
  of_user text, of_hash text, checked_password_hash text, moment bigint, old_users text[], old_hashes text[]
) returns text[] language plpgsql as $$
declare
  name text;
begin
  perform lock_users();
  select username into name from "user"
    where id = of_user and disabled_at is null and password_hash = checked_password_hash for share;
  if not found then return null; end if;
  insert into session (user_id, secret_hash, username, created_at, last_seen_at)
    values (of_user, of_hash, name, moment, moment);
  return array(select user_id from end_sessions(old_users, old_hashes));
end $$;

-- For nodes of the version before, which end one session at most.
create or replace function add_session(
  of_user text, of_hash text, checked_password_hash text, moment bigint, old_user text, old_hash text
) returns boolean language plpgsql as $$
begin
  return add_session_replacing(
    of_user, of_hash, checked_password_hash, moment, array[old_user], array[old_hash]) is not null;
end $$;
