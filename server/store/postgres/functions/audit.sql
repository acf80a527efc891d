-- The audit log. Every write that changes something worth a record calls record_audit in its own transaction.
-- A user who is erased by then is not named: a refusal is stored after its response (U2).

create or replace function record_audit(entries jsonb) returns void language plpgsql as $$
begin
  if entries is null then return; end if;
  insert into audit (user_id, id, at, event, actor, address, user_agent, request_id, sign_in_id, name_hash, detail, count)
    select coalesce((select u.id from "user" u where u.id = e ->> 'userId'), ''), e ->> 'id', (e ->> 'at')::bigint, e ->> 'event', e ->> 'actor', e ->> 'address',
      e ->> 'userAgent', e ->> 'requestId', e ->> 'signInId', e ->> 'nameHash', e ->> 'detail', (e ->> 'count')::bigint
    from jsonb_array_elements(entries) e;
  -- Commands have no log of their own: the services write their lines.
  if entries @> '[{"actor": "operator"}]' then perform pg_notify('carillon', '{"audit":true}'); end if;
end $$;
