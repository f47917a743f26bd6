// tidy: long file because everything that is said in SQL stands in one place
#include "engine/postgres/dialect.h"

#include <algorithm>
#include <array>

namespace kvarts::postgres {

const std::string_view kSchema = R"sql(
CREATE SCHEMA kvarts;

CREATE TABLE kvarts.meta (
  name  text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE kvarts.state (
  one       boolean PRIMARY KEY DEFAULT true CHECK (one),
  fenced_by integer,
  floor     bigint  NOT NULL DEFAULT 0,
  floor_tx  xid8    NOT NULL DEFAULT '0',
  epoch     bigint  NOT NULL DEFAULT 0
);
INSERT INTO kvarts.state DEFAULT VALUES;

CREATE TABLE kvarts.entry (
  version   bigint   NOT NULL,
  expire_at bigint   NOT NULL,
  tx        xid8     NOT NULL,
  schema    integer  NOT NULL,
  bits      smallint NOT NULL,
  key       bytea    NOT NULL,
  digest    bytea    NOT NULL,
  rest      bytea    NOT NULL,
  value     bytea    COMPRESSION lz4 NOT NULL,
  PRIMARY KEY (key, digest)
) WITH (fillfactor = 80, toast_tuple_target = 2040,
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX entry_dead ON kvarts.entry (expire_at) WHERE expire_at < 9223372036854775807;

CREATE TABLE kvarts.erased_range (
  version  bigint NOT NULL,
  tx       xid8   NOT NULL,
  lo       bytea  NOT NULL,
  lo_rest  bytea  NOT NULL,
  hi       bytea  NOT NULL,
  hi_rest  bytea  NOT NULL
);
CREATE INDEX erased_range_version ON kvarts.erased_range (version);
CREATE INDEX erased_range_tx ON kvarts.erased_range (tx);

CREATE UNLOGGED TABLE kvarts.followed (
  digest  bytea  PRIMARY KEY,
  lo      bytea  NOT NULL,
  lo_rest bytea  NOT NULL,
  hi      bytea  NOT NULL,
  hi_rest bytea  NOT NULL,
  told    boolean NOT NULL,
  until   bigint NOT NULL
);
CREATE UNLOGGED TABLE kvarts.touched (
  tx      xid8     NOT NULL,
  kind    smallint NOT NULL,
  lo      bytea    NOT NULL,
  lo_rest bytea    NOT NULL,
  hi      bytea    NOT NULL,
  hi_rest bytea    NOT NULL
);
CREATE INDEX touched_tx ON kvarts.touched (tx);
CREATE UNLOGGED TABLE kvarts.changed (
  version   bigint   NOT NULL,
  number    bigint   NOT NULL,
  expire_at bigint   NOT NULL,
  place     integer  NOT NULL,
  schema    integer  NOT NULL,
  op        smallint NOT NULL,
  bits      smallint NOT NULL,
  lo        bytea    NOT NULL,
  lo_rest   bytea    NOT NULL,
  hi        bytea    NOT NULL,
  hi_rest   bytea    NOT NULL,
  value     bytea    COMPRESSION lz4 NOT NULL,
  PRIMARY KEY (version, place)
);
CREATE UNLOGGED TABLE kvarts.noting (
  one       boolean PRIMARY KEY DEFAULT true CHECK (one),
  life      uuid    NOT NULL DEFAULT gen_random_uuid(),
  forgotten bigint  NOT NULL DEFAULT 0
);

CREATE SEQUENCE kvarts.clock AS bigint MINVALUE 0 START 0;
)sql";

// Everything rests on this: in READ COMMITTED each statement of a function has a snapshot of its own, so what stands
// behind the locks sees all that earlier holders of the same locks have committed.
const std::string_view kSchemaFunctions = R"sql(
CREATE OR REPLACE FUNCTION kvarts.now_micros() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- So many versions in a row; the first of them. The sequence is the clock of all processes: it never goes back, and is not
-- rolled back. The number behind the last one is no commit's: views have it that are opened before the next commit.
CREATE OR REPLACE FUNCTION kvarts.versions(p_now bigint, p_count integer) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_first bigint;
BEGIN
  IF pg_advisory_lock(1262902610, 1) IS NULL THEN NULL; END IF;
  v_first := greatest(coalesce(pg_sequence_last_value('kvarts.clock'), 0) + 2, coalesce(p_now, kvarts.now_micros()) << 10);
  IF setval('kvarts.clock', v_first + p_count - 1) IS NULL THEN NULL; END IF;
  IF pg_advisory_unlock(1262902610, 1) THEN NULL; END IF;
  RETURN v_first;
END $$;

-- A counter's value: eight bytes, big-endian.
CREATE OR REPLACE FUNCTION kvarts.number_of(p_value bytea) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT ('x' || encode(p_value, 'hex'))::bit(64)::bigint::numeric $$;
CREATE OR REPLACE FUNCTION kvarts.held(p_sum numeric) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT int8send(greatest(least(p_sum, 9223372036854775807), -9223372036854775808)::bigint) $$;

-- Of locks the lowest bit says whether others may have them, too.
CREATE OR REPLACE FUNCTION kvarts.lock_keys(p_locks bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  h bigint;
BEGIN
  FOREACH h IN ARRAY p_locks LOOP
    IF h & 1 = 0 THEN
      IF pg_advisory_xact_lock(h) IS NULL THEN NULL; END IF;
    ELSE
      IF pg_advisory_xact_lock_shared(h - 1) IS NULL THEN NULL; END IF;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kvarts.try_lock_keys(p_locks bigint[]) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  h bigint;
BEGIN
  FOREACH h IN ARRAY p_locks LOOP
    IF h & 1 = 0 THEN
      IF NOT pg_try_advisory_xact_lock(h) THEN RETURN false; END IF;
    ELSE
      IF NOT pg_try_advisory_xact_lock_shared(h - 1) THEN RETURN false; END IF;
    END IF;
  END LOOP;
  RETURN true;
END $$;

-- Commits, judged and applied one after the other. The operations of a commit lie together, its preconditions first.
--   p_now      microseconds; null: this server's clock
--   p_modes    1: nobody else may write   2: locks are only tried for, since others are held already
--   p_epoch    of the ranges that are followed, as the caller knows them; p_touches are the operations that touch them, and
--              p_tells, ascending, those of which somebody wants to know what they do
--   o_op       1 absent  2 present  3 version is  4 range unchanged   |  10 put  11 erase  12 erase range  13 add
--   o_bits     of preconditions: 1 was read, 2 sees expired values    |  of puts: what is stored
--   o_number   the version a precondition is about                    |  what is added
--   o_expire   when what was seen lapses                              |  when the value is gone
--   o_snapshot of a range: what its reader saw, behind the life of the server that it saw it in
-- Outcomes: 0 committed, 1 what was read has changed, 2 a stated precondition fails, 3 a lock is not to be had. `at_op` and
-- `number` say which operation failed, and the version that it met; of one that is committed, its version. The transaction
-- has its number before its versions, and its versions after its locks.
CREATE OR REPLACE FUNCTION kvarts.commit(
  p_now bigint, p_sync text, p_modes integer, p_locks bigint[], p_commits integer, p_epoch bigint, p_touches integer[],
  p_tells integer[],
  o_commit integer[], o_op smallint[], o_bits smallint[], o_key bytea[], o_digest bytea[], o_rest bytea[],
  o_end bytea[], o_end_rest bytea[], o_number bigint[], o_expire bigint[], o_schema integer[], o_value bytea[],
  o_stamp_key integer[], o_stamp_value integer[], o_snapshot text[])
RETURNS TABLE (place integer, outcome integer, at_op integer, number bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  c_never CONSTANT bigint := 9223372036854775807;
  n CONSTANT integer := cardinality(o_op);
  i integer := 1;
  v_first bigint;
  v_last bigint;
  v_version bigint;
  v_time bigint;
  v_row_version bigint;
  v_expire bigint;
  v_writes CONSTANT boolean := 10 <= ANY (o_op);
  v_tx xid8;
  v_epoch bigint;
  v_seen pg_snapshot;
  v_fenced_by integer;
  v_holds boolean;
  v_key bytea;
  v_value bytea;
  v_wrote boolean;
  v_touches integer[] := p_touches;
  v_tells integer[] := p_tells;
  v_tell integer := 1;
BEGIN
  IF set_config('synchronous_commit', p_sync, true) IS NULL THEN NULL; END IF;
  IF v_writes THEN v_tx := pg_current_xact_id(); END IF;
  IF p_modes & 2 = 0 THEN
    IF p_modes & 1 = 0 THEN
      IF pg_advisory_xact_lock_shared(1262902610, 2) IS NULL THEN NULL; END IF;
    ELSE
      IF pg_advisory_xact_lock(1262902610, 2) IS NULL THEN NULL; END IF;
    END IF;
    IF kvarts.lock_keys(p_locks) IS NULL THEN NULL; END IF;
  ELSE
    IF p_modes & 1 = 0 THEN
      v_holds := pg_try_advisory_xact_lock_shared(1262902610, 2);
    ELSE
      v_holds := pg_try_advisory_xact_lock(1262902610, 2);
    END IF;
    IF NOT v_holds OR NOT kvarts.try_lock_keys(p_locks) THEN
      RETURN QUERY SELECT c, 3, 0, 0::bigint FROM generate_series(1, p_commits) c;
      RETURN;
    END IF;
  END IF;
  SELECT s.fenced_by, s.epoch INTO v_fenced_by, v_epoch FROM kvarts.state s;
  IF v_fenced_by IS NOT NULL THEN
    RAISE EXCEPTION 'the server is not the primary any more: there is timeline %', v_fenced_by USING ERRCODE = 'KV001';
  END IF;
  -- Who only asks takes no version.
  IF v_writes THEN
    v_first := kvarts.versions(p_now, p_commits);
    -- Who knows what is followed has said what touches it; for others it is found out here.
    IF v_epoch <> p_epoch THEN
      SELECT array_agg(DISTINCT u.i) FILTER (WHERE NOT f.told), array_agg(DISTINCT u.i) FILTER (WHERE f.told)
        INTO v_touches, v_tells
        FROM (SELECT o.i::integer, CASE WHEN o.op = 12 THEN 1 WHEN o.stamp >= 0 THEN 2 ELSE 0 END,
                     CASE WHEN o.op <> 12 AND o.stamp >= 0 THEN substring(o.k FOR o.stamp) ELSE o.k END, o.r, o.e, o.er
                FROM unnest(o_op, o_key, o_rest, o_end, o_end_rest, o_stamp_key) WITH ORDINALITY o(op, k, r, e, er, stamp, i)
               WHERE o.op >= 10) u(i, kind, lo, lo_rest, hi, hi_rest)
        JOIN kvarts.followed f
          ON CASE u.kind WHEN 0 THEN (f.lo, f.lo_rest) <= (u.lo, u.lo_rest) AND (u.lo, u.lo_rest) < (f.hi, f.hi_rest)
                         WHEN 1 THEN (f.lo, f.lo_rest) < (u.hi, u.hi_rest) AND (u.lo, u.lo_rest) < (f.hi, f.hi_rest)
                         ELSE substring(f.lo FOR octet_length(u.lo)) <= u.lo AND (u.lo, '\x'::bytea) < (f.hi, f.hi_rest) END;
    END IF;
    IF cardinality(v_touches) > 0 THEN
      INSERT INTO kvarts.touched
      SELECT v_tx, CASE WHEN o_op[u.i] = 12 THEN 1 WHEN o_stamp_key[u.i] >= 0 THEN 2 ELSE 0 END,
             CASE WHEN o_op[u.i] <> 12 AND o_stamp_key[u.i] >= 0 THEN substring(o_key[u.i] FOR o_stamp_key[u.i]) ELSE o_key[u.i] END,
             o_rest[u.i], o_end[u.i], o_end_rest[u.i]
        FROM unnest(v_touches) u(i);
    END IF;
  ELSE
    SELECT greatest(last_value, coalesce(p_now, kvarts.now_micros()) << 10) + 1, last_value INTO v_first, v_last FROM kvarts.clock;
  END IF;

  place := 0;
  WHILE i <= n LOOP
    place := o_commit[i];
    outcome := 0;
    at_op := 0;
    number := 0;
    v_version := v_first + place - 1;
    v_time := v_version >> 10;
    v_wrote := false;

    WHILE i <= n AND o_commit[i] = place AND o_op[i] < 10 LOOP
      IF o_op[i] = 4 THEN
        v_seen := NULL;
        IF o_snapshot[i] IS NULL THEN
          v_holds := NOT EXISTS (
              SELECT FROM kvarts.entry t
               WHERE (t.key, t.rest) >= (o_key[i], o_rest[i]) AND (t.key, t.rest) < (o_end[i], o_end_rest[i])
                 AND t.version > o_number[i])
            AND NOT EXISTS (
              SELECT FROM kvarts.erased_range e
               WHERE e.version > o_number[i] AND (e.lo, e.lo_rest) < (o_end[i], o_end_rest[i])
                 AND (o_key[i], o_rest[i]) < (e.hi, e.hi_rest));
        ELSIF NOT EXISTS (SELECT FROM kvarts.noting n WHERE n.life::text = split_part(o_snapshot[i], '/', 1)) THEN
          v_holds := false;  -- numbers of transactions may have been given anew since
        ELSE
          v_seen := split_part(o_snapshot[i], '/', 2)::pg_snapshot;
          v_holds := NOT EXISTS (
              SELECT FROM kvarts.entry t
               WHERE (t.key, t.rest) >= (o_key[i], o_rest[i]) AND (t.key, t.rest) < (o_end[i], o_end_rest[i])
                 AND NOT pg_visible_in_snapshot(t.tx, v_seen))
            AND NOT EXISTS (
              SELECT FROM kvarts.erased_range e
               WHERE e.tx >= pg_snapshot_xmin(v_seen) AND NOT pg_visible_in_snapshot(e.tx, v_seen)
                 AND (e.lo, e.lo_rest) < (o_end[i], o_end_rest[i]) AND (o_key[i], o_rest[i]) < (e.hi, e.hi_rest));
        END IF;
        -- What was erased since may have been collected: what is not there any more has raised the floor, for whoever looks
        -- at that later. Its transaction may also have been under way when the view was opened, however long before it had
        -- its version: what was collected has ended.
        IF v_holds THEN
          SELECT o_number[i] >= s.floor AND
                 (v_seen IS NULL OR s.floor_tx < pg_snapshot_xmin(v_seen) OR
                  s.floor_tx < pg_snapshot_xmax(v_seen) AND NOT EXISTS (
                    SELECT FROM pg_snapshot_xip(v_seen) x
                     WHERE x <= s.floor_tx AND pg_visible_in_snapshot(x, pg_current_snapshot())))
            INTO v_holds FROM kvarts.state s;
        END IF;
        v_row_version := 0;
      ELSE
        SELECT t.version, t.expire_at INTO v_row_version, v_expire
          FROM kvarts.entry t WHERE t.key = o_key[i] AND t.digest = o_digest[i];
        IF v_row_version IS NULL OR v_expire < 0 OR (v_expire <= v_time AND o_bits[i] & 2 = 0) THEN
          v_row_version := 0;
        END IF;
        v_holds := CASE o_op[i] WHEN 1 THEN v_row_version = 0
                                WHEN 2 THEN v_row_version <> 0
                                ELSE v_row_version = o_number[i] AND v_row_version <> 0 END;
      END IF;
      IF NOT v_holds OR o_expire[i] <= v_time THEN
        IF o_bits[i] & 1 <> 0 THEN
          outcome := 1;
          at_op := i;
          number := v_row_version;
          EXIT;
        ELSIF outcome = 0 THEN
          outcome := 2;
          at_op := i;
          number := v_row_version;
        END IF;
      END IF;
      i := i + 1;
    END LOOP;

    WHILE i <= n AND o_commit[i] = place LOOP
      IF outcome <> 0 OR o_op[i] < 10 THEN
        i := i + 1;
        CONTINUE;
      END IF;
      v_wrote := true;
      v_key := o_key[i];
      v_value := o_value[i];
      IF o_stamp_key[i] >= 0 THEN v_key := overlay(v_key PLACING int8send(v_version) FROM o_stamp_key[i] + 1); END IF;
      IF o_stamp_value[i] >= 0 THEN v_value := overlay(v_value PLACING int8send(v_version) FROM o_stamp_value[i] + 1); END IF;
      IF o_op[i] = 10 THEN
        INSERT INTO kvarts.entry AS t (version, expire_at, tx, schema, bits, key, digest, rest, value)
        VALUES (v_version, o_expire[i], v_tx, o_schema[i], o_bits[i], v_key, o_digest[i], o_rest[i], v_value)
        ON CONFLICT (key, digest) DO UPDATE
           SET version = excluded.version, expire_at = excluded.expire_at, tx = excluded.tx,
               schema = excluded.schema, bits = excluded.bits, value = excluded.value;
      ELSIF o_op[i] = 11 THEN
        INSERT INTO kvarts.entry AS t (version, expire_at, tx, schema, bits, key, digest, rest, value)
        VALUES (v_version, -1 - v_time, v_tx, 0, 0, v_key, o_digest[i], o_rest[i], '')
        ON CONFLICT (key, digest) DO UPDATE
           SET version = excluded.version, expire_at = excluded.expire_at, tx = excluded.tx, schema = 0, bits = 0, value = '';
      ELSIF o_op[i] = 12 THEN
        UPDATE kvarts.entry t
           SET version = v_version, expire_at = -1 - v_time, tx = v_tx, schema = 0, bits = 0, value = ''
         WHERE (t.key, t.rest) >= (o_key[i], o_rest[i]) AND (t.key, t.rest) < (o_end[i], o_end_rest[i])
           AND t.expire_at >= 0;
        INSERT INTO kvarts.erased_range VALUES (v_version, v_tx, o_key[i], o_rest[i], o_end[i], o_end_rest[i]);
      ELSE
        INSERT INTO kvarts.entry AS t (version, expire_at, tx, schema, bits, key, digest, rest, value)
        VALUES (v_version, c_never, v_tx, 0, 1, v_key, o_digest[i], o_rest[i], int8send(o_number[i]))
        ON CONFLICT (key, digest) DO UPDATE
           SET version = v_version, tx = v_tx,
               expire_at = CASE WHEN t.expire_at > v_time THEN t.expire_at ELSE c_never END,
               schema = CASE WHEN t.expire_at > v_time THEN t.schema ELSE 0 END,
               bits = CASE WHEN t.expire_at <= v_time THEN 1
                           WHEN t.bits & 15 <> 1 THEN t.bits | 64
                           WHEN kvarts.number_of(t.value) + o_number[i]
                                BETWEEN -9223372036854775808 AND 9223372036854775807 THEN t.bits
                           ELSE t.bits | 32 END,
               value = CASE WHEN t.expire_at <= v_time THEN excluded.value
                            WHEN t.bits & 15 <> 1 THEN t.value
                            ELSE kvarts.held(kvarts.number_of(t.value) + o_number[i]) END;
      END IF;
      WHILE v_tells[v_tell] < i LOOP v_tell := v_tell + 1; END LOOP;
      IF v_tells[v_tell] = i THEN
        INSERT INTO kvarts.changed (version, place, op, bits, number, expire_at, schema, lo, lo_rest, hi, hi_rest, value)
        VALUES (v_version, i, o_op[i], o_bits[i], o_number[i], o_expire[i], o_schema[i], v_key, o_rest[i], o_end[i], o_end_rest[i],
                v_value);
      END IF;
      i := i + 1;
    END LOOP;
    IF outcome = 0 THEN
      IF v_wrote THEN
        number := v_version;
      ELSE
        number := coalesce(v_last, v_version - 1);
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Commits that do nothing but put keys, the last of each key, and rest on keys that none of them puts. Their versions
-- follow each other: the first of them, or null when nothing was done, and kvarts.commit has to say why. That is so when a
-- precondition does not hold, when somebody follows a key and the caller does not know it, when the server is fenced, and
-- when a lock is not to be had at once: nobody waits here, since others wait behind.
--   c_…  the preconditions of all   o_…  the puts, and which of the commits they are of; both as for kvarts.commit
CREATE OR REPLACE FUNCTION kvarts.put_all(
  p_now bigint, p_sync text, p_locks bigint[], p_commits integer, p_epoch bigint, p_touches integer[],
  c_op smallint[], c_bits smallint[], c_key bytea[], c_digest bytea[], c_number bigint[], c_expire bigint[],
  o_commit integer[], o_bits smallint[], o_key bytea[], o_digest bytea[], o_rest bytea[], o_expire bigint[], o_schema integer[],
  o_value bytea[])
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_tx CONSTANT xid8 := pg_current_xact_id();
  v_first bigint;
  v_time bigint;
  v_epoch bigint;
  v_holds boolean;
BEGIN
  -- As long as nothing is done, there is nothing that anybody would have to wait for.
  IF set_config('synchronous_commit', 'off', true) IS NULL THEN NULL; END IF;
  IF NOT pg_try_advisory_xact_lock_shared(1262902610, 2) OR NOT kvarts.try_lock_keys(p_locks) THEN RETURN NULL; END IF;
  v_first := kvarts.versions(p_now, p_commits);
  v_time := v_first >> 10;
  SELECT s.epoch, NOT EXISTS (
           SELECT FROM generate_series(1, cardinality(c_op)) c(i)
             LEFT JOIN kvarts.entry t ON t.key = c_key[c.i] AND t.digest = c_digest[c.i]
                                     AND t.expire_at >= 0 AND (t.expire_at > v_time OR c_bits[c.i] & 2 <> 0)
            WHERE c_expire[c.i] <= v_time
               OR NOT CASE c_op[c.i] WHEN 1 THEN t.version IS NULL
                                     WHEN 2 THEN t.version IS NOT NULL
                                     ELSE coalesce(t.version = c_number[c.i], false) END)
    INTO v_epoch, v_holds FROM kvarts.state s WHERE s.fenced_by IS NULL;
  IF v_epoch <> p_epoch THEN
    v_holds := v_holds AND NOT EXISTS (
      SELECT FROM generate_series(1, cardinality(o_key)) u(i)
        JOIN kvarts.followed f ON (f.lo, f.lo_rest) <= (o_key[u.i], o_rest[u.i])
                              AND (o_key[u.i], o_rest[u.i]) < (f.hi, f.hi_rest));
  END IF;
  IF v_holds IS NOT TRUE THEN RETURN NULL; END IF;
  IF set_config('synchronous_commit', p_sync, true) IS NULL THEN NULL; END IF;
  IF cardinality(p_touches) > 0 THEN
    INSERT INTO kvarts.touched SELECT v_tx, 0, o_key[u.i], o_rest[u.i], '', '' FROM unnest(p_touches) u(i);
  END IF;
  INSERT INTO kvarts.entry AS t (version, expire_at, tx, schema, bits, key, digest, rest, value)
  SELECT v_first + o_commit[u.i] - 1, o_expire[u.i], v_tx, o_schema[u.i], o_bits[u.i], o_key[u.i], o_digest[u.i], o_rest[u.i],
         o_value[u.i]
    FROM generate_series(1, cardinality(o_key)) u(i)
  ON CONFLICT (key, digest) DO UPDATE
     SET version = excluded.version, expire_at = excluded.expire_at, tx = excluded.tx,
         schema = excluded.schema, bits = excluded.bits, value = excluded.value;
  RETURN v_first;
END $$;

-- Takes away what has been dead since before a version, but for rows that somebody else is at. The floor is the newest of
-- what ever went, and rises in the same transaction: who decides by a range that was read before is run again. How many rows
-- there were, or ranges if those were more.
CREATE OR REPLACE FUNCTION kvarts.collect(p_before bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count bigint;
  v_version bigint;
  v_tx xid8;
BEGIN
  IF set_config('synchronous_commit', 'off', true) IS NULL OR set_config('lock_timeout', '500ms', true) IS NULL THEN NULL; END IF;
  WITH dead AS (
    SELECT t.key, t.digest FROM kvarts.entry t
     WHERE t.expire_at > -1 - (p_before >> 10) AND t.expire_at < p_before >> 10 AND (t.expire_at < 0 OR t.bits & 16 = 0)
     LIMIT p_limit FOR UPDATE SKIP LOCKED),
  gone AS (
    DELETE FROM kvarts.entry t USING dead WHERE t.key = dead.key AND t.digest = dead.digest RETURNING t.version, t.tx),
  ranges AS (
    DELETE FROM kvarts.erased_range
     WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM kvarts.erased_range e WHERE e.version <= p_before LIMIT p_limit
                                FOR UPDATE SKIP LOCKED))
    RETURNING version, tx),
  went AS (SELECT * FROM gone UNION ALL SELECT * FROM ranges)
  SELECT greatest((SELECT count(*) FROM gone), (SELECT count(*) FROM ranges)),
         (SELECT max(version) FROM went), (SELECT tx FROM went ORDER BY tx DESC LIMIT 1)
    INTO v_count, v_version, v_tx;
  -- Others who collect wait for this row, and hold nothing that this transaction would wait for.
  UPDATE kvarts.state SET floor = greatest(floor, v_version), floor_tx = greatest(floor_tx, v_tx)
   WHERE floor < v_version OR floor_tx < v_tx;
  RETURN v_count;
END $$;

-- How many live rows a range has, and their bytes: counted up to a number, then as the planner thinks.
CREATE OR REPLACE FUNCTION kvarts.estimate(p_lo bytea, p_lo_rest bytea, p_hi bytea, p_hi_rest bytea, p_counted bigint)
RETURNS TABLE (entries bigint, bytes bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_plan json;
BEGIN
  SELECT count(*), coalesce(sum(s.size), 0)::bigint INTO entries, bytes
    FROM (SELECT octet_length(t.key) + octet_length(t.rest) + octet_length(t.value) AS size FROM kvarts.entry t
           WHERE (t.key, t.rest) >= (p_lo, p_lo_rest) AND (t.key, t.rest) < (p_hi, p_hi_rest) AND t.expire_at >= 0
           LIMIT p_counted) s;
  IF entries = p_counted THEN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM kvarts.entry t WHERE t.key >= $1 AND t.key < $2' INTO v_plan USING p_lo, p_hi;
    bytes := bytes * greatest((v_plan->0->'Plan'->>'Plan Rows')::float8 / entries, 1);
    entries := greatest((v_plan->0->'Plan'->>'Plan Rows')::bigint, entries);
  END IF;
  RETURN NEXT;
END $$;

-- A page: live rows in order until there are enough of them or of their bytes. The last row has no key: it says how many dead
-- ones were stepped over, and if that was too many, where.
CREATE OR REPLACE FUNCTION kvarts.scan(
  p_time bigint, p_lo bytea, p_lo_rest bytea, p_hi bytea, p_hi_rest bytea, p_backwards boolean,
  p_entries integer, p_bytes bigint, p_skipped bigint, p_expired boolean, p_keys_only boolean)
RETURNS TABLE (key bytea, rest bytea, version bigint, expire_at bigint, schema integer, bits smallint, value bytea,
               ended integer, skipped bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  v_rows refcursor;
  r record;
  v_found integer := 0;
  v_bytes bigint := 0;
  v_skipped bigint := 0;
  v_ended integer := 0;
BEGIN
  IF p_backwards THEN
    OPEN v_rows FOR
      SELECT t.key, t.rest, t.version, t.expire_at, t.schema, t.bits, t.value FROM kvarts.entry t
       WHERE (t.key, t.rest) >= (p_lo, p_lo_rest) AND (t.key, t.rest) < (p_hi, p_hi_rest)
       ORDER BY t.key DESC, t.rest DESC;
  ELSE
    OPEN v_rows FOR
      SELECT t.key, t.rest, t.version, t.expire_at, t.schema, t.bits, t.value FROM kvarts.entry t
       WHERE (t.key, t.rest) >= (p_lo, p_lo_rest) AND (t.key, t.rest) < (p_hi, p_hi_rest)
       ORDER BY t.key, t.rest;
  END IF;
  LOOP
    FETCH v_rows INTO r;
    EXIT WHEN NOT FOUND;
    IF r.expire_at < 0 OR (r.expire_at <= p_time AND NOT p_expired) THEN
      v_skipped := v_skipped + 1;
      IF v_skipped > p_skipped THEN
        v_ended := 2;
        EXIT;
      END IF;
      CONTINUE;
    END IF;
    v_bytes := v_bytes + octet_length(r.key) + octet_length(r.rest) +
               (CASE WHEN p_keys_only THEN 0 ELSE octet_length(r.value) END);
    IF v_found >= p_entries OR (v_found > 0 AND v_bytes > p_bytes) THEN
      v_ended := 1;
      EXIT;
    END IF;
    v_found := v_found + 1;
    key := r.key;
    rest := r.rest;
    version := r.version;
    expire_at := r.expire_at;
    schema := r.schema;
    bits := r.bits;
    value := CASE WHEN p_keys_only THEN '' ELSE r.value END;
    RETURN NEXT;
  END LOOP;
  key := CASE WHEN v_ended = 2 THEN r.key END;
  rest := CASE WHEN v_ended = 2 THEN r.rest END;
  value := NULL;
  ended := v_ended;
  skipped := v_skipped;
  RETURN NEXT;
END $$;
)sql";

namespace {
constexpr std::array kSteps = {
    std::string_view()  // 2: functions alone
};
static_assert(kSteps.size() == kSchemaVersion - 1, "every version has its step");
}  // namespace
const std::span<const std::string_view> kSchemaSteps = kSteps;

// to_regclass would answer from what the server has cached, also when somebody else has made it since.
const char* const kFindSchema = R"sql(
SELECT (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'meta')
  FROM pg_namespace n WHERE n.nspname = 'kvarts')sql";
const char* const kFindSchemaVersion = "SELECT value FROM kvarts.meta WHERE name = 'schema_version'";
const char* const kBeginToMakeSchema = "BEGIN; SELECT pg_advisory_xact_lock(1262902610, 0)";

std::string MakeSchemaSql(std::string_view make, std::string_view functions, int to) {
  return std::string(make).append("; ").append(functions) + "; INSERT INTO kvarts.meta VALUES ('schema_version', '" +
         std::to_string(to) + "'), ('store', gen_random_uuid()::text); COMMIT";
}

std::string RaiseSchemaSql(std::span<const std::string_view> steps, std::string_view functions, int from, int to) {
  std::string statements;
  for (const std::string_view step : steps.subspan(static_cast<size_t>(from) - 1)) statements.append(step).append("; ");
  return statements.append(functions) + "; UPDATE kvarts.meta SET value = '" + std::to_string(to) +
         "' WHERE name = 'schema_version'; COMMIT";
}

// Every statement of ours has an index that it is made for. A plan is kept as long as a connection, and one that was
// made when the table was nearly empty would read all of it for ever.
std::string Planning(std::chrono::milliseconds longest) {
  return "SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;"
         "SET jit = off;"
         // What correctness rests on is not left to what a role or a database has been given: a commit judges by what
         // is there when it has its locks, and is told when a wait for replicas is broken off.
         "SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off;"
         "SET client_min_messages = warning;"
         // Housekeeping waits for no replica, and nobody who has left goes on waiting for locks.
         "SET synchronous_commit = local; SET client_connection_check_interval = '1s';"
         // Where the network has gone silent, a session and its locks end within some 20 seconds; but not one that
         // waits for replicas, which looks at no connection meanwhile.
         "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;"
         "SET tcp_user_timeout = '20s';"
         "SET statement_timeout = " +
         std::to_string(longest.count()) +
         // The numbers of processes are given again, and a pooler gives others.
         "; SELECT a.pid || ' ' || extract(epoch FROM a.backend_start) FROM pg_stat_get_activity(pg_backend_pid()) a";
}

const Statement kCommit = {"kvarts_commit",
                           "SELECT * FROM kvarts.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,"
                           "$19,$20,$21,$22,$23)"};
const Statement kPutAll = {"kvarts_put_all",
                           "SELECT kvarts.put_all($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,"
                           "$20)"};
const Statement kHold = {"kvarts_hold", R"sql(
SELECT CASE WHEN $1 & 1 = 0 THEN pg_advisory_lock_shared(1262902610, 2) ELSE pg_advisory_lock(1262902610, 2) END,
       (SELECT count(CASE WHEN h & 1 = 0 THEN pg_advisory_lock(h) ELSE pg_advisory_lock_shared(h - 1) END)
          FROM unnest($2::bigint[]) h))sql"};
const Statement kLetGo = {"kvarts_let_go", "SELECT pg_advisory_unlock_all()"};
// The time is asked for once, whatever the number of rows.
const Statement kGet = {"kvarts_get", R"sql(
SELECT t.key, t.version, t.expire_at, t.schema, t.bits, t.value,
       (SELECT greatest($2::bigint, coalesce($3::bigint, kvarts.now_micros()), c.last_value >> 10) FROM kvarts.clock c)
  FROM kvarts.entry t WHERE t.key = ANY ($1::bytea[]) AND t.digest = '' AND t.expire_at >= 0)sql"};
const Statement kGetLong = {"kvarts_get_long", R"sql(
SELECT t.key || t.rest, t.version, t.expire_at, t.schema, t.bits, t.value,
       (SELECT greatest($3::bigint, coalesce($4::bigint, kvarts.now_micros()), c.last_value >> 10) FROM kvarts.clock c)
  FROM unnest($1::bytea[], $2::bytea[]) u(k, d) JOIN kvarts.entry t ON t.key = u.k AND t.digest = u.d
 WHERE t.expire_at >= 0)sql"};
// A server that never was a replica has replayed nothing.
const Statement kReplayed = {"kvarts_replayed", "SELECT coalesce((pg_last_wal_replay_lsn() - '0/0')::bigint, 0)"};
const Statement kPosition = {"kvarts_position", R"sql(
SELECT ('x' || substr(pg_walfile_name(p.lsn), 1, 8))::bit(32)::bigint, (p.lsn - '0/0')::bigint
  FROM (SELECT CASE WHEN $1::boolean THEN pg_current_wal_flush_lsn() ELSE pg_current_wal_insert_lsn() END
        OFFSET 0) p(lsn))sql"};
// A division by zero is the only error that a plain statement can raise.
const Statement kRequireStandbys = {"kvarts_require_standbys",
                                    "SELECT 1 / length(current_setting('synchronous_standby_names'))"};
const Statement kScan = {"kvarts_scan", "SELECT * FROM kvarts.scan($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)"};
const Statement kBegin = {"kvarts_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"};
const Statement kOpenView = {"kvarts_open_view", R"sql(
SELECT c.last_value + 1, greatest($1::bigint, coalesce($2::bigint, kvarts.now_micros()), (c.last_value + 1) >> 10),
       (SELECT n.life::text FROM kvarts.noting n) || '/' || pg_current_snapshot()::text FROM kvarts.clock c)sql"};
const Statement kOpenReplicaView = {"kvarts_open_replica_view", R"sql(
SELECT c.last_value + 1, greatest($1::bigint, coalesce($2::bigint, kvarts.now_micros()), (c.last_value + 1) >> 10), ''
  FROM kvarts.clock c)sql"};
// No view has a number that one had before.
const Statement kBeginLife = {"kvarts_begin_life", R"sql(
INSERT INTO kvarts.noting DEFAULT VALUES ON CONFLICT DO NOTHING RETURNING kvarts.versions(0, 1))sql"};
const Statement kEnd = {"kvarts_end", "COMMIT"};
const Statement kNow = {"kvarts_now", R"sql(
SELECT c.last_value, greatest($1::bigint, coalesce($2::bigint, kvarts.now_micros()), c.last_value >> 10)
  FROM kvarts.clock c)sql"};

const Statement kSync = {"kvarts_sync", R"sql(
WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'local', true) AS value)
INSERT INTO kvarts.meta SELECT 'synced', value FROM how ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql"};
const Statement kSetMeta = {"kvarts_set_meta", R"sql(
INSERT INTO kvarts.meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql"};
const Statement kAddTotals = {"kvarts_add_totals", R"sql(
INSERT INTO kvarts.meta AS m VALUES ('total/commits', $1::bigint::text), ('total/user_bytes', $2::bigint::text)
    ON CONFLICT (name) DO UPDATE SET value = (m.value::bigint + excluded.value::bigint)::text)sql"};
const Statement kFindMeta = {"kvarts_find_meta", "SELECT name, value FROM kvarts.meta WHERE starts_with(name, $1)"};
const Statement kCompact = {"kvarts_compact", R"sql(
WITH page AS MATERIALIZED (
  SELECT t.key, t.digest, t.rest, t.expire_at FROM kvarts.entry t
   WHERE (t.key, t.rest) >= ($1, $2) AND (t.key, t.rest) < ($3, $4) ORDER BY t.key, t.rest LIMIT $6),
dead AS (
  SELECT t.key, t.digest FROM page p JOIN kvarts.entry t ON t.key = p.key AND t.digest = p.digest
   WHERE p.expire_at <= $5 AND (t.expire_at < 0 OR (t.expire_at <= $5 AND t.bits & 16 = 0)) FOR UPDATE OF t SKIP LOCKED),
gone AS (
  DELETE FROM kvarts.entry t USING dead WHERE t.key = dead.key AND t.digest = dead.digest
  RETURNING t.version, t.tx, t.key, t.rest),
noted AS (
  INSERT INTO kvarts.erased_range
  SELECT g.version, g.tx, g.key, g.rest, CASE WHEN octet_length(g.key) < 2000 THEN g.key || '\x00' ELSE g.key END,
         CASE WHEN octet_length(g.key) < 2000 THEN '' ELSE g.rest || '\x00' END
    FROM gone g, kvarts.state s WHERE g.version > s.floor OR g.tx > s.floor_tx)
SELECT p.key || p.rest FROM page p ORDER BY p.key, p.rest OFFSET $6 - 1)sql"};
const Statement kAnalyze = {"kvarts_analyze", "ANALYZE kvarts.entry"};
const Statement kCollect = {"kvarts_collect", "SELECT kvarts.collect($1, $2)"};
const Statement kBacklog = {"kvarts_backlog", R"sql(
SELECT count(*) FROM (
  SELECT FROM kvarts.entry t
   WHERE t.expire_at > -1 - ($1::bigint >> 10) AND t.expire_at < $1::bigint >> 10 AND (t.expire_at < 0 OR t.bits & 16 = 0)
   LIMIT $2) s)sql"};
const Statement kEstimate = {"kvarts_estimate", "SELECT * FROM kvarts.estimate($1, $2, $3, $4, $5)"};
const Statement kSizes = {"kvarts_sizes", R"sql(
SELECT greatest(c.reltuples, 0)::bigint, pg_total_relation_size(c.oid),
       (pg_total_relation_size(c.oid) * coalesce(s.n_dead_tup::float8 / nullif(s.n_live_tup + s.n_dead_tup, 0), 0))::bigint
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = 'kvarts.entry'::regclass)sql"};
// The epoch follows the clock, so that one which a failover took back does not come again as another.
const Statement kFollow = {"kvarts_follow", R"sql(
WITH noting AS (INSERT INTO kvarts.noting DEFAULT VALUES ON CONFLICT DO NOTHING RETURNING kvarts.versions(0, 1)),
made AS (
  INSERT INTO kvarts.followed
  SELECT sha256(int2send(f.told) || int4send(octet_length(f.lo) + octet_length(f.lo_rest)) ||
                f.lo || f.lo_rest || f.hi || f.hi_rest),
         f.lo, f.lo_rest, f.hi, f.hi_rest, f.told <> 0, kvarts.now_micros() + $6
    FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::smallint[]) f(lo, lo_rest, hi, hi_rest, told)
   ORDER BY 1
      ON CONFLICT (digest) DO UPDATE SET until = greatest(kvarts.followed.until, excluded.until)
  RETURNING xmax = 0 AS is_new)
UPDATE kvarts.state SET epoch = greatest(epoch + 1, kvarts.now_micros()) WHERE EXISTS (SELECT FROM made WHERE is_new))sql"};
// One process forgets at a time. Whoever takes ranges away says so by the epoch: nobody goes on noting for them.
const Statement kForget = {"kvarts_forget", R"sql(
WITH mine AS MATERIALIZED (SELECT FROM kvarts.noting FOR UPDATE SKIP LOCKED),
stale AS (SELECT digest FROM kvarts.followed WHERE until < kvarts.now_micros() ORDER BY digest FOR UPDATE SKIP LOCKED),
ended AS (DELETE FROM kvarts.followed f USING stale WHERE f.digest = stale.digest RETURNING f.digest),
touched AS (DELETE FROM kvarts.touched WHERE tx < $1::xid8 AND EXISTS (SELECT FROM mine)),
changed AS (DELETE FROM kvarts.changed WHERE version < $2 AND EXISTS (SELECT FROM mine)),
forgotten AS (UPDATE kvarts.noting SET forgotten = $2 WHERE forgotten < $2 AND EXISTS (SELECT FROM mine))
UPDATE kvarts.state SET epoch = greatest(epoch + 1, kvarts.now_micros()) WHERE EXISTS (SELECT FROM ended))sql"};
const Statement kEpoch = {"kvarts_epoch", R"sql(
SELECT s.epoch, (SELECT life::text FROM kvarts.noting) FROM kvarts.state s)sql"};
const Statement kFollowed = {"kvarts_followed", R"sql(
SELECT s.epoch, f.lo, f.lo_rest, f.hi, f.hi_rest, f.told FROM kvarts.state s LEFT JOIN kvarts.followed f ON true)sql"};
const Statement kClock = {"kvarts_clock", "SELECT last_value FROM kvarts.clock"};
// Who has the fence and, from before that, a number. One who runs again under locks of the session has it without.
const Statement kCommitting = {"kvarts_committing", R"sql(
SELECT virtualtransaction FROM pg_locks
 WHERE granted
   AND (locktype = 'transactionid' AND mode = 'ExclusiveLock'
        OR locktype = 'advisory' AND classid = 1262902610 AND objid = 2 AND objsubid = 2
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
 GROUP BY virtualtransaction HAVING count(DISTINCT locktype) = 2)sql"};
// What a snapshot does not show is from its end on or ran in it. Both are found by the index, however old it is.
const Statement kTouched = {"kvarts_touched", R"sql(
SELECT t.kind, t.lo, t.lo_rest, t.hi, t.hi_rest, s.now::text, pg_snapshot_xmin(s.now)::text::bigint
  FROM (SELECT pg_current_snapshot() OFFSET 0) s(now) LEFT JOIN (
    SELECT kind, lo, lo_rest, hi, hi_rest FROM kvarts.touched WHERE tx >= pg_snapshot_xmax($1::text::pg_snapshot)
     UNION
    SELECT kind, lo, lo_rest, hi, hi_rest FROM kvarts.touched
     WHERE tx = ANY (ARRAY(SELECT pg_snapshot_xip($1::text::pg_snapshot))) LIMIT $2) t ON true)sql"};
// The limit is one that the planner knows, so it does not prepare for many.
const Statement kChanged = {"kvarts_changed", R"sql(
SELECT (SELECT life::text FROM kvarts.noting), (SELECT forgotten FROM kvarts.noting),
       c.version, c.expire_at, c.schema, c.bits, c.value, c.place, c.op, c.number, c.lo, c.lo_rest, c.hi, c.hi_rest
  FROM (SELECT 1) o LEFT JOIN (
    SELECT p.*, sum(octet_length(p.value)) OVER (ORDER BY p.version, p.place) - octet_length(p.value) AS before
      FROM (SELECT * FROM kvarts.changed t WHERE (t.version, t.place) > ($1, $2) AND t.version <= $3
             ORDER BY t.version, t.place LIMIT 256) p) c ON c.before < $4
 ORDER BY c.version, c.place)sql"};
const Statement kInterrupt = {"kvarts_interrupt", R"sql(
SELECT pg_cancel_backend(a.pid) FROM pg_stat_get_activity(split_part($1::text, ' ', 1)::int) a
 WHERE a.pid || ' ' || extract(epoch FROM a.backend_start) = $1::text)sql"};
// A commit has the fence as long as it waits, and nobody else has it.
const Statement kInterruptLeft = {"kvarts_interrupt_left", R"sql(
SELECT count(pg_cancel_backend(a.pid))
  FROM pg_locks l CROSS JOIN pg_stat_get_activity(l.pid) a
 WHERE l.granted AND l.locktype = 'advisory' AND l.classid = 1262902610 AND l.objid = 2 AND l.objsubid = 2
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND a.pid = l.pid AND a.wait_event = 'SyncRep'
   AND a.query_start < clock_timestamp() - $1::bigint * interval '1 microsecond')sql"};

// The timeline of a primary is that of the file it writes; pg_control has it only after a checkpoint. What a replica
// receives is shown to members of pg_read_all_stats; to others its timeline becomes known later, by what was noted.

const char* const kAskServer = R"sql(
SELECT r.recovering, (SELECT system_identifier FROM pg_control_system()),
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
       CASE WHEN r.recovering
            THEN greatest((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint()),
                          (SELECT min_recovery_end_timeline FROM pg_control_recovery()))::bigint
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
       (CASE WHEN r.recovering THEN coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
             ELSE pg_current_wal_flush_lsn() END - '0/0')::bigint,
       (CASE WHEN r.recovering THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END - '0/0')::bigint,
       CASE WHEN r.recovering
            THEN (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint END,
       current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication),
       (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
       current_database(), (SELECT oid FROM pg_database WHERE datname = current_database())::bigint
  FROM (SELECT pg_is_in_recovery() OFFSET 0) r(recovering))sql";
const char* const kAskWhetherMade = R"sql(
SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'kvarts' AND c.relname = 'meta'))sql";
const char* const kAskMeta =
    "SELECT name, value FROM kvarts.meta WHERE name IN ('schema_version', 'store', 'timeline')";
const char* const kAskFence = "SELECT fenced_by FROM kvarts.state";

namespace {

std::string AsServer(const std::string& statement) {
  return "BEGIN READ WRITE; SET LOCAL synchronous_commit TO local; SET LOCAL lock_timeout TO 500; " + statement +
         "; COMMIT";
}

}  // namespace

std::string FenceSql(uint32_t timeline) {
  const std::string by = std::to_string(timeline);
  return AsServer("UPDATE kvarts.state SET fenced_by = " + by + " WHERE fenced_by IS NULL OR fenced_by < " + by);
}

std::string LiftFenceSql() { return AsServer("UPDATE kvarts.state SET fenced_by = NULL"); }

std::string NoteTimelineSql(std::string_view system_id, uint32_t timeline) {
  return AsServer("INSERT INTO kvarts.meta VALUES ('timeline', '" + std::string(system_id) + "/" +
                  std::to_string(timeline) + "') ON CONFLICT (name) DO UPDATE SET value = excluded.value");
}

std::span<const Statement* const> AllStatements() {
  static constexpr std::array kAll = {&kCommit,
                                      &kPutAll,
                                      &kHold,
                                      &kLetGo,
                                      &kGet,
                                      &kGetLong,
                                      &kReplayed,
                                      &kPosition,
                                      &kRequireStandbys,
                                      &kScan,
                                      &kBegin,
                                      &kOpenView,
                                      &kOpenReplicaView,
                                      &kBeginLife,
                                      &kEnd,
                                      &kNow,
                                      &kSync,
                                      &kSetMeta,
                                      &kAddTotals,
                                      &kFindMeta,
                                      &kCompact,
                                      &kAnalyze,
                                      &kCollect,
                                      &kBacklog,
                                      &kEstimate,
                                      &kSizes,
                                      &kFollow,
                                      &kForget,
                                      &kEpoch,
                                      &kFollowed,
                                      &kClock,
                                      &kCommitting,
                                      &kTouched,
                                      &kChanged,
                                      &kInterrupt,
                                      &kInterruptLeft};
  return kAll;
}

}  // namespace kvarts::postgres
