-- Add a session and end another. The user's row is locked, so that the user cannot be disabled in between.

-- The notice is part of the commit: if the process dies right after it, the other processes still hear of it.
create or replace function tell_session_ended(of_user text) returns void language sql as $$
  select pg_notify('carillon', json_build_object('session', of_user)::text)
$$;

create or replace function add_session(
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
