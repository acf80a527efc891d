-- One-time links. Each locks the user's row first, so that of two uses of one link the second finds no link.

create or replace function add_link(
  of_user text, of_purpose text, hash text, moment bigint, until bigint, address text, audit_entries jsonb
) returns boolean language plpgsql as $$
declare
  after_others bigint;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user and disabled_at is null for update;
  if not found then return false; end if;
  select max(created_at) + 1 into after_others from one_time_link where user_id = of_user and purpose = of_purpose;
  insert into one_time_link (user_id, purpose, token_hash, created_at, expires_at, email)
    values (of_user, of_purpose, hash, greatest(moment, after_others), until, address);
  delete from one_time_link where user_id = of_user and purpose = of_purpose and token_hash not in (
    select token_hash from one_time_link where user_id = of_user and purpose = of_purpose order by created_at desc limit 3);
  perform record_audit(audit_entries);
  return true;
end $$;

create or replace function reset_password(
  of_user text, of_hash text, new_hash text, moment bigint, cut_until bigint, audit_entries jsonb
) returns boolean language plpgsql as $$
declare
  sent_to text;
begin
  perform lock_users();
  perform 1 from "user" where id = of_user and disabled_at is null for update;
  if not found then return false; end if;
  select email into sent_to from one_time_link where user_id = of_user and token_hash = of_hash and expires_at > moment;
  if not found then return false; end if;
  perform change_password(of_user, new_hash, moment, cut_until, null, null, audit_entries);
  update "user" set device_generation = device_generation + 1,
      email_verified_at = case when email = sent_to then coalesce(email_verified_at, moment) else email_verified_at end
    where id = of_user;
  return true;
end $$;
