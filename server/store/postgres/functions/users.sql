-- Disable a user, or set a password: in both cases all sessions and tokens of the user end in the same transaction. The
-- functions raise the credential generation, so nodes of the version before raise it too.

-- On Citus "user" is copied to every node, and a row lock locks the whole copy on each node. Two callers that upgrade such a
-- lock would deadlock. So sign-ins and changes of users take turns there.
create or replace function lock_users() returns void language plpgsql as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    perform pg_advisory_xact_lock(hashtext('carillon users'));
  end if;
end $$;

create or replace function end_proofs(of_user text, moment bigint, cut_until bigint) returns void language plpgsql as $$
begin
  delete from session where user_id = of_user;
  perform tell_session_ended(of_user);
  perform cut_tokens(of_user, '', moment, cut_until);
end $$;

create or replace function disable_user(of_user text, moment bigint, cut_until bigint) returns boolean language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  update "user" set disabled_at = coalesce(disabled_at, moment), credential_generation = credential_generation + 1
    where id = of_user returning credential_generation into generation;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  update token_cutoff set first_generation = generation where user_id = of_user and sign_in_id = '';
  return true;
end $$;

create or replace function set_password(of_user text, new_hash text, moment bigint, cut_until bigint)
returns boolean language plpgsql as $$
declare
  generation bigint;
begin
  perform lock_users();
  update "user" set password_hash = new_hash, disabled_at = null, credential_generation = credential_generation + 1
    where id = of_user returning credential_generation into generation;
  if not found then return false; end if;
  perform end_proofs(of_user, moment, cut_until);
  update token_cutoff set first_generation = generation where user_id = of_user and sign_in_id = '';
  return true;
end $$;
