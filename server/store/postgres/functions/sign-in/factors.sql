-- Second factors, recovery codes and challenges. A change of factors locks the user's row, so that one of two calls adds the first
-- factor. A use needs no such lock: it is one conditional update.

create or replace function has_factor(of_user text) returns boolean language plpgsql as $$
begin
  return exists (select from factor where user_id = of_user and confirmed_at is not null);
end $$;

create or replace function store_recovery_codes(of_user text, hashes text[], moment bigint) returns void language plpgsql as $$
begin
  delete from recovery_code where user_id = of_user;
  insert into recovery_code (user_id, code_hash, created_at) select of_user, hash, moment from unnest(hashes) hash;
end $$;

-- given: a factor as NewFactor in nouns/factors.ts.
create or replace function add_factor(
  of_user text, given jsonb, max_factors bigint, code_hashes text[], audit_entries jsonb
) returns text language plpgsql as $$
declare
  is_confirmed constant boolean := given ->> 'confirmedAt' is not null;
  is_first boolean;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  if not found then return 'absent'; end if;
  perform 1 from factor where user_id = of_user and credential_id = given ->> 'credentialId';
  if found then return 'taken'; end if;
  if (select count(*) from factor where user_id = of_user and (confirmed_at is not null or is_confirmed)) >= max_factors then
    return 'full';
  end if;
  if not is_confirmed then delete from factor where user_id = of_user and confirmed_at is null; end if;
  is_first := is_confirmed and not has_factor(of_user);
  insert into factor (user_id, id, kind, label, sealed_secret, credential_id, public_key, sign_count, transports, created_at,
      confirmed_at)
    values (of_user, given ->> 'id', given ->> 'kind', given ->> 'label', given ->> 'sealedSecret', given ->> 'credentialId',
      given ->> 'publicKey', (given ->> 'signCount')::bigint, given ->> 'transports', (given ->> 'createdAt')::bigint,
      (given ->> 'confirmedAt')::bigint);
  if is_first then perform store_recovery_codes(of_user, code_hashes, (given ->> 'createdAt')::bigint); end if;
  perform record_audit(audit_entries);
  return case when is_first then 'first' else 'done' end;
end $$;

create or replace function confirm_factor(
  of_user text, of_factor text, of_step bigint, moment bigint, code_hashes text[], audit_entries jsonb
) returns text language plpgsql as $$
declare
  is_first boolean;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  perform 1 from factor where user_id = of_user and id = of_factor;
  if not found then return 'absent'; end if;
  is_first := not has_factor(of_user);
  update factor set confirmed_at = moment, last_step = of_step, last_used_at = moment
    where user_id = of_user and id = of_factor and confirmed_at is null;
  if not found then return 'refused'; end if;
  if is_first then perform store_recovery_codes(of_user, code_hashes, moment); end if;
  perform record_audit(audit_entries);
  return case when is_first then 'first' else 'done' end;
end $$;

-- Keeps a passkey that is the last way to sign in: no password, no other passkey, no account at a provider.
create or replace function remove_factor_unless_last(of_user text, of_factor text, audit_entries jsonb)
returns text language plpgsql as $$
declare
  signs_in boolean;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  select kind = 'passkey' and confirmed_at is not null into signs_in from factor where user_id = of_user and id = of_factor;
  if not found then return 'absent'; end if;
  if signs_in then
    perform 1 from "user" u where u.id = of_user and (
      (u.username is not null and u.password_hash is not null)
      or exists (select from factor f
        where f.user_id = of_user and f.id <> of_factor and f.kind = 'passkey' and f.confirmed_at is not null)
      or exists (select from provider_account a where a.owner_id = of_user));
    if not found then return 'last'; end if;
  end if;
  delete from factor where user_id = of_user and id = of_factor;
  if not has_factor(of_user) then delete from recovery_code where user_id = of_user; end if;
  perform record_audit(audit_entries);
  return 'done';
end $$;

create or replace function replace_recovery_codes(of_user text, code_hashes text[], moment bigint, audit_entries jsonb)
returns boolean language plpgsql as $$
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  if not has_factor(of_user) then return false; end if;
  perform store_recovery_codes(of_user, code_hashes, moment);
  perform record_audit(audit_entries);
  return true;
end $$;

-- A second use of the same challenge waits for the first one, and then finds none. challenge_hash: null for a use without one.
create or replace function holds_challenge(challenge_user text, challenge_hash text, moment bigint)
returns boolean language plpgsql as $$
begin
  if challenge_hash is null then return true; end if;
  perform 1 from challenge
    where user_id = challenge_user and hash = challenge_hash and expires_at > moment for update;
  return found;
end $$;

create or replace function use_factor(
  of_user text, of_factor text, moment bigint, of_step bigint, of_sign_count bigint, challenge_user text, challenge_hash text,
  audit_entries jsonb
) returns text language plpgsql as $$
begin
  if not holds_challenge(challenge_user, challenge_hash, moment) then return 'no-challenge'; end if;
  update factor set last_used_at = moment, last_step = coalesce(of_step, last_step),
      sign_count = coalesce(of_sign_count, sign_count)
    where user_id = of_user and id = of_factor and confirmed_at is not null
      and (kind = 'totp' and coalesce(last_step, -1) < of_step
        or kind = 'passkey' and (sign_count < of_sign_count or sign_count = 0 and of_sign_count = 0));
  if not found then return 'refused'; end if;
  delete from challenge where user_id = challenge_user and hash = challenge_hash;
  perform record_audit(audit_entries);
  return 'done';
end $$;

create or replace function use_recovery_code(
  of_user text, of_code_hash text, moment bigint, challenge_user text, challenge_hash text, audit_entries jsonb
) returns text language plpgsql as $$
begin
  if not holds_challenge(challenge_user, challenge_hash, moment) then return 'no-challenge'; end if;
  update recovery_code set used_at = moment where user_id = of_user and code_hash = of_code_hash and used_at is null;
  if not found then return 'refused'; end if;
  delete from challenge where user_id = challenge_user and hash = challenge_hash;
  perform record_audit(audit_entries);
  return 'done';
end $$;

-- Returns how many factors there were; null without such a user.
create or replace function reset_factors(of_user text, moment bigint, cut_until bigint, audit_entries jsonb)
returns bigint language plpgsql as $$
declare
  generation bigint;
  removed bigint;
begin
  perform lock_users();
  update "user" set credential_generation = credential_generation + 1
    where id = of_user returning credential_generation into generation;
  if not found then return null; end if;
  delete from factor where user_id = of_user;
  get diagnostics removed = row_count;
  delete from recovery_code where user_id = of_user;
  delete from challenge where user_id = of_user;
  perform end_proofs_except(of_user, generation, null, moment, cut_until);
  perform record_audit(audit_entries);
  return removed;
end $$;

create or replace function add_challenge(
  of_user text, of_hash text, of_purpose text, of_data text, until bigint, audit_entries jsonb
) returns void language plpgsql as $$
begin
  if of_user <> '' then
    perform lock_users();
    perform 1 from "user" where id = of_user for share;
    if not found then return; end if;
  end if;
  insert into challenge (user_id, hash, purpose, data, expires_at) values (of_user, of_hash, of_purpose, of_data, until);
  perform record_audit(audit_entries);
end $$;

-- A second use of the same challenge waits for the first one, and then finds its row.
create or replace function spend_challenge(of_user text, of_hash text, until bigint) returns boolean language plpgsql as $$
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for share;
  if not found then return false; end if;
  insert into challenge (user_id, hash, purpose, data, expires_at) values (of_user, of_hash, 'spent', '', until)
    on conflict (user_id, hash) do nothing;
  return found;
end $$;
