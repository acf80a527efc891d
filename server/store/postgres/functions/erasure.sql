-- Erase a user: every row of the user, and the user in the outcomes of deliveries, in one transaction.

create or replace function erase_user(
  of_user text, erased_key text, moment bigint, cut_until bigint, audit_entries jsonb
) returns boolean language plpgsql as $$
begin
  perform lock_outcomes(alone => true);
  perform lock_users();
  perform 1 from "user" where id = of_user for update;
  if not found then return false; end if;
  -- Waits for the deliveries that have locked the inbox, also those that create it. Later ones find no user (refuse_erased).
  insert into inbox (user_id, version, first_seq, last_seq, total, unread, read_through)
    values (of_user, 0, 1, 0, 0, 0, 0) on conflict do nothing;
  perform 1 from inbox where user_id = of_user for update;
  delete from "user" where id = of_user;
  delete from session where user_id = of_user;
  delete from inbox_category where user_id = of_user;
  delete from notification where user_id = of_user;
  delete from category_read_mark where user_id = of_user;
  delete from read_mark where user_id = of_user;
  delete from inbox where user_id = of_user;
  delete from token_cutoff where user_id = of_user;
  delete from known_device where user_id = of_user;
  delete from one_time_link where user_id = of_user;
  delete from factor where user_id = of_user;
  delete from recovery_code where user_id = of_user;
  delete from challenge where user_id = of_user;
  delete from audit where user_id = of_user;
  delete from provider_account where owner_id = of_user;
  delete from guess_count where key >= 'user ' || of_user || ' ' and key < 'user ' || of_user || '!';
  perform remove_from_outcomes(of_user);
  perform tell_session_ended(of_user);
  perform cut_tokens(erased_key, '', moment, cut_until);
  perform record_audit(audit_entries);
  return true;
end $$;

-- On Citus "delivery" is copied to every node, and an update locks the whole copy. A delivery with an idempotency key writes to it
-- before it locks an inbox, and an erasure after that. So an erasure waits for these deliveries first, or both would deadlock.
create or replace function lock_outcomes(alone boolean) returns void language plpgsql as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then return; end if;
  if alone then perform pg_advisory_xact_lock(hashtext('carillon outcomes'));
  else perform pg_advisory_xact_lock_shared(hashtext('carillon outcomes'));
  end if;
end $$;

-- One caller at a time: two could lock the same outcomes in different orders.
create or replace function remove_from_outcomes(of_user text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('carillon outcomes'));
  update delivery set answer = (
    select json_build_object('deliveryId', answer::json -> 'deliveryId', 'results', json_agg(
      case when r.result ->> 'userId' = of_user
        then json_build_object('userId', null, 'id', null, 'status', 'unknown_recipient') else r.result end
      order by r.position
    ))::text
    from json_array_elements(answer::json -> 'results') with ordinality as r (result, position)
  ) where strpos(answer, of_user) > 0;
end $$;
