-- End the sign-ins of a user, with or without an exception.

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
  delete from session where user_id = of_user and (spared is null or sign_in_id is distinct from spared);
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
