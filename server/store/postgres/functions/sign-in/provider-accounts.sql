-- The accounts that users have at providers. The user's row is locked before an account is linked or removed, so that two calls for
-- one user take turns. The column owner_id is not named user_id: an account is found without its user.

create or replace function use_provider_account(of_issuer text, of_subject text, moment bigint)
returns setof "user" language plpgsql as $$
begin
  update provider_account a set last_used_at = moment
    where a.issuer = of_issuer and a.subject = of_subject
      and exists (select from "user" u where u.id = a.owner_id and u.disabled_at is null);
  return query select u.* from provider_account a join "user" u on u.id = a.owner_id
    where a.issuer = of_issuer and a.subject = of_subject;
end $$;

-- A second call for the same account waits at the insert for the first one, and then finds its user.
create or replace function add_provider_user(
  of_issuer text, of_subject text, new_id text, of_display_name text, of_email text, moment bigint, audit_entries jsonb
) returns setof "user" language plpgsql as $$
begin
  perform lock_users();
  insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (of_issuer, of_subject, new_id, of_email, moment, moment) on conflict do nothing;
  if found then
    insert into "user" (id, created_at, display_name, email, email_verified_at)
      values (new_id, moment, of_display_name, of_email, case when of_email is not null then moment end);
    perform record_audit(audit_entries);
  end if;
  return query select u.* from provider_account a join "user" u on u.id = a.owner_id
    where a.issuer = of_issuer and a.subject = of_subject;
end $$;

create or replace function link_provider_account(
  of_user text, checked_generation bigint, of_issuer text, of_subject text, of_email text, moment bigint, audit_entries jsonb
) returns text language plpgsql as $$
declare
  owner text;
begin
  perform lock_users();
  perform 1 from "user"
    where id = of_user and disabled_at is null and credential_generation = checked_generation for update;
  if not found then return 'refused'; end if;
  perform 1 from provider_account where owner_id = of_user and issuer = of_issuer and subject <> of_subject;
  if found then return 'has-another'; end if;
  insert into provider_account (issuer, subject, owner_id, email, created_at, last_used_at)
    values (of_issuer, of_subject, of_user, of_email, moment, moment) on conflict do nothing;
  if found then
    perform record_audit(audit_entries);
    return 'done';
  end if;
  select owner_id into owner from provider_account where issuer = of_issuer and subject = of_subject;
  return case when owner = of_user then 'done' else 'taken' end;
end $$;

create or replace function unlink_provider_account(of_user text, of_issuer text, usable_issuers text[], audit_entries jsonb)
returns text language plpgsql as $$
begin
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  perform 1 from provider_account where owner_id = of_user and issuer = of_issuer;
  if not found then return 'absent'; end if;
  perform 1 from "user" u where u.id = of_user and (
    (u.username is not null and u.password_hash is not null)
    or exists (select from factor f where f.user_id = of_user and f.kind = 'passkey' and f.confirmed_at is not null)
    or exists (select from provider_account a where a.owner_id = of_user and a.issuer <> of_issuer and a.issuer = any (usable_issuers)));
  if not found then return 'last'; end if;
  delete from provider_account where owner_id = of_user and issuer = of_issuer;
  perform record_audit(audit_entries);
  return 'done';
end $$;
