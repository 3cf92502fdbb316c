// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/catalogue_schema.h"

namespace hearth {
namespace {

const std::vector<std::string> kMigrations{
    R"(CREATE TABLE artifacts (
         id TEXT PRIMARY KEY,
         path TEXT NOT NULL UNIQUE,
         shards TEXT NOT NULL,
         facts TEXT NOT NULL,
         imported_at INTEGER NOT NULL,
         last_used_at INTEGER NOT NULL,
         status INTEGER NOT NULL,
         reason TEXT NOT NULL);
       CREATE TABLE names (
         name_key TEXT PRIMARY KEY,
         display TEXT NOT NULL,
         artifact TEXT NOT NULL REFERENCES artifacts(id) ON UPDATE CASCADE,
         created_at INTEGER NOT NULL);
       CREATE INDEX names_by_artifact ON names(artifact);)",
    R"(CREATE TABLE pins (
         artifact TEXT NOT NULL REFERENCES artifacts(id) ON UPDATE CASCADE ON DELETE CASCADE,
         layer TEXT NOT NULL,
         bytes INTEGER NOT NULL,
         PRIMARY KEY (artifact, layer)) WITHOUT ROWID;)",
    R"(ALTER TABLE artifacts RENAME COLUMN path TO place;
       ALTER TABLE artifacts ADD COLUMN store TEXT NOT NULL DEFAULT 'user';
       ALTER TABLE artifacts ADD COLUMN origin TEXT NOT NULL DEFAULT '';
       ALTER TABLE artifacts ADD COLUMN adapters TEXT NOT NULL DEFAULT '';
       ALTER TABLE artifacts ADD COLUMN verified_at INTEGER NOT NULL DEFAULT 0;
       ALTER TABLE names ADD COLUMN settings TEXT NOT NULL DEFAULT '';
       ALTER TABLE names ADD COLUMN found_store TEXT NOT NULL DEFAULT '';
       ALTER TABLE names ADD COLUMN found_root TEXT NOT NULL DEFAULT '';
       ALTER TABLE names ADD COLUMN found_as TEXT NOT NULL DEFAULT '';
       CREATE TABLE hidden (
         store TEXT NOT NULL,
         root TEXT NOT NULL,
         found_as TEXT NOT NULL,
         PRIMARY KEY (store, root, found_as)) WITHOUT ROWID;)"};

}  // namespace

const std::vector<std::string>& catalogue_schema() { return kMigrations; }

}  // namespace hearth
