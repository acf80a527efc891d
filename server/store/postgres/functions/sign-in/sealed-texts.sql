-- Replace what was sealed with another secret. factors: an array of userId, id, from (the text that was read) and to.

create or replace function reseal_factors(factors jsonb, audit_entries jsonb) returns bigint language plpgsql as $$
declare
  one jsonb;
  replaced bigint := 0;
begin
  for one in select * from jsonb_array_elements(factors) loop
    update factor set sealed_secret = one ->> 'to'
      where user_id = one ->> 'userId' and id = one ->> 'id' and sealed_secret = one ->> 'from';
    if found then replaced := replaced + 1; end if;
  end loop;
  if replaced > 0 then perform record_audit(audit_entries); end if;
  return replaced;
end $$;
