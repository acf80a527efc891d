-- Add producers, rotate and revoke their keys.

create or replace function add_new_producer(
  new_id text, of_name text, hash text, of_scopes text, moment bigint, until bigint, of_application text
) returns void language plpgsql as $$
begin
  insert into producer (id, name, secret_hash, scopes, created_at, expires_at, application)
    values (new_id, of_name, hash, of_scopes, moment, until, of_application);
end $$;

create or replace function revoke_producer(of_id text, moment bigint) returns boolean language plpgsql as $$
begin
  update producer set revoked_at = coalesce(revoked_at, moment) where id = of_id;
  return found;
end $$;

create or replace function rotate_producer(of_id text, new_hash text, until bigint) returns boolean language plpgsql as $$
begin
  update producer set previous_secret_hash = secret_hash, previous_until = until, secret_hash = new_hash
    where id = of_id and revoked_at is null;
  return found;
end $$;
