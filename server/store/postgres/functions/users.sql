-- Disable a user, or set a password: in both cases all sessions and tokens of the user end in the same transaction.

create or replace function end_proofs(of_user text, moment bigint, cut_until bigint) returns void language sql as $$
  delete from session where user_id = of_user;
  select tell_session_ended(of_user);
  select cut_tokens(of_user, '', moment, cut_until)
$$;

create or replace function disable_user(of_user text, moment bigint, cut_until bigint) returns boolean language plpgsql as $$
begin
  update "user" set disabled_at = coalesce(disabled_at, moment) where id = of_user;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  return true;
end $$;

create or replace function set_password(of_user text, new_hash text, moment bigint, cut_until bigint)
returns boolean language plpgsql as $$
begin
  update "user" set password_hash = new_hash, disabled_at = null where id = of_user;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  return true;
end $$;
