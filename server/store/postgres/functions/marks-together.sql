-- Marks of several callers in one transaction, so that they share a round trip and a commit. Not on Citus, where each runs on the node
-- that has the user's rows.

-- Marks notifications as read, each as mark_read does. The inboxes are locked in the order of user_id, as those of a delivery, so
-- that two batches cannot deadlock. Returns one answer for each mark, in their order.
create or replace function mark_read_together(users text[], ids text[], moments text[]) returns text[] language plpgsql
set lock_timeout = '250ms' as $$
declare
  one record;
  answers text[] := array_fill(null::text, array[cardinality(users)]);
begin
  for one in
    select u, i, m, n from unnest(users, ids, moments) with ordinality as w (u, i, m, n) order by u collate "C", n
  loop
    answers[one.n] := mark_read(one.u, one.i, one.m);
  end loop;
  return answers;
end $$;
