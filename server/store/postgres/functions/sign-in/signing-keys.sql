-- Add, drop and re-seal the keys that sign access tokens. One caller at a time; reads do not wait. The notice is part of the commit.

create or replace function insert_signing_key(key jsonb) returns void language plpgsql as $$
begin
  insert into signing_key (kid, public_jwk, sealed_private_jwk, created_at, starts_at)
  values (key ->> 'kid', key ->> 'publicJwk', key ->> 'sealedPrivateJwk',
    (key ->> 'createdAt')::bigint, (key ->> 'startsAt')::bigint);
  perform pg_notify('carillon', '{"keys":true}');
end $$;

create or replace function add_signing_key(after_kid text, new_key jsonb, audit_entries jsonb)
returns boolean language plpgsql as $$
begin
  lock table signing_key in exclusive mode;
  if after_kid is distinct from
    (select kid from signing_key order by starts_at desc, created_at desc, kid desc limit 1) then return false; end if;
  perform insert_signing_key(new_key);
  perform record_audit(audit_entries);
  return true;
end $$;

create or replace function drop_signing_key(old_kid text, new_key jsonb, audit_entries jsonb)
returns boolean language plpgsql as $$
begin
  lock table signing_key in exclusive mode;
  delete from signing_key where kid = old_kid;
  if not found then return false; end if;
  perform insert_signing_key(new_key);
  perform record_audit(audit_entries);
  return true;
end $$;

-- keys: an array of kid, from (the text that was read) and to.
create or replace function reseal_signing_keys(keys jsonb, audit_entries jsonb) returns bigint language plpgsql as $$
declare
  replaced bigint;
begin
  update signing_key set sealed_private_jwk = e ->> 'to' from jsonb_array_elements(keys) e
    where kid = e ->> 'kid' and sealed_private_jwk = e ->> 'from';
  get diagnostics replaced = row_count;
  if replaced = 0 then return 0; end if;
  perform record_audit(audit_entries);
  perform pg_notify('carillon', '{"keys":true}');
  return replaced;
end $$;
