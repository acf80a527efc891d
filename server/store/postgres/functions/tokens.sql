-- Revoke access tokens, and keep the first signing key.

create or replace function cut_tokens(of_user text, sign_in text, moment bigint, until bigint) returns void language sql as $$
  -- A few at a time, and not those that another call removes: no sign-out waits for another one. A day later than they
  -- could: if the clock is set back in between, the tokens of that time are valid again.
  delete from token_cutoff where ctid = any (array(
    select ctid from token_cutoff where expires_at <= moment - 86400000 order by expires_at limit 100 for update skip locked
  ));
  insert into token_cutoff as known (user_id, sign_in_id, not_before, expires_at)
  values (of_user, sign_in, moment, until)
  on conflict (user_id, sign_in_id) do update set
    not_before = greatest(known.not_before, excluded.not_before),
    expires_at = greatest(known.expires_at, excluded.expires_at);
  select pg_notify('carillon', '{"cutoff":true}')
$$;

create or replace function ensure_signing_key(new_kid text, public text, sealed text, moment bigint)
returns void language plpgsql as $$
begin
  lock table signing_key in exclusive mode;
  insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at)
  select new_kid, public, sealed, moment where not exists (select 1 from signing_key);
end $$;
