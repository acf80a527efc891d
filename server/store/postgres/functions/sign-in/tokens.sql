-- Revoke access tokens.

-- With the tokens of a sign-in, the session that it belongs to ends. The session is locked first, as everywhere.

create or replace function cut_tokens(of_user text, sign_in text, moment bigint, until bigint)
returns void language plpgsql as $$
declare
  -- Rows are kept one day longer than needed: if the clock is set back, the tokens of that day are valid again.
  expired_at constant bigint := moment - 86400000;
begin
  if sign_in <> '' then
    delete from session where user_id = of_user and sign_in_id = sign_in;
    if found then perform tell_session_ended(of_user); end if;
  end if;
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    -- On Citus one caller at a time removes rows, on every node; the others do not wait.
    if pg_try_advisory_xact_lock(hashtext('carillon token_cutoff')) then
      delete from token_cutoff where expires_at <= expired_at;
    end if;
  else
    -- At most 100, and none that another call is removing: no sign-out waits for another one.
    delete from token_cutoff where ctid = any (array(
      select ctid from token_cutoff where expires_at <= expired_at order by expires_at limit 100 for update skip locked
    ));
  end if;
  insert into token_cutoff as known (user_id, sign_in_id, expires_at) values (of_user, sign_in, until)
  on conflict (user_id, sign_in_id) do update set expires_at = greatest(known.expires_at, excluded.expires_at);
  perform pg_notify('carillon', '{"cutoff":true}');
end $$;

create or replace function revoke_issued_tokens(of_user text, moment bigint, cut_until bigint)
returns boolean language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  update "user" set issued_generation = issued_generation + 1 where id = of_user returning issued_generation into generation;
  if not found then return false; end if;
  perform cut_tokens(of_user, 'issued', moment, cut_until);
  update token_cutoff set first_generation = generation where user_id = of_user and sign_in_id = 'issued';
  return true;
end $$;
