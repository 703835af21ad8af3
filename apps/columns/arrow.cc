/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's interface for C++ is the one that every package of it has; behind arrow.h nothing of it is seen. */
#include "arrow.h"

#include <arrow/api.h>
#include <arrow/config.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <unistd.h>

#include "arrow_values.hpp"

namespace {

using arrow::Status;

/* Rows that are decoded at a time. */
constexpr int64_t BATCH = 1 << 16;

/* The record batches of an Arrow file, as a Parquet file's are read. */
class arrow_file : public arrow::RecordBatchReader {
      public:
	explicit arrow_file(std::shared_ptr<arrow::ipc::RecordBatchFileReader> from) : file(std::move(from))
	{
	}

	std::shared_ptr<arrow::Schema> schema() const override
	{
		return file->schema();
	}

	/* Nothing but this proves that offsets and places point into their arrays. */
	Status ReadNext(std::shared_ptr<arrow::RecordBatch> *batch) override
	{
		if (next == file->num_record_batches()) {
			batch->reset();
			return Status::OK();
		}
		ARROW_ASSIGN_OR_RAISE(*batch, file->ReadRecordBatch(next++));
		return (*batch)->ValidateFull();
	}

      private:
	std::shared_ptr<arrow::ipc::RecordBatchFileReader> file;
	int next = 0;
};

} // namespace

struct gn_arrow {
	const char *name;
	const gn_progress *progress;
	std::unique_ptr<parquet::arrow::FileReader> parquet; /* outlives batches */
	std::shared_ptr<arrow::RecordBatchReader> batches;
	std::shared_ptr<arrow::RecordBatch> batch;
	int64_t at = 0; /* in the batch */
	std::vector<gn_arrow_column> columns;
	std::vector<gn_field> fields;
	gn_record row = {};
	uint64_t rows = 0; /* of the file; 0: unknown */
	bool named = false;
};

namespace {

int fail(const char *name, const Status &status, gn_error *e)
{
	const int code = status.IsOutOfMemory()      ? -GN_ENOMEM
	                 : status.IsNotImplemented() ? -GN_ENOTSUP
	                                             : -GN_EBADMSG;
	std::string why = status.message().substr(0, 200);

	for (char &c : why)
		c = c >= ' ' && c < 127 ? c : ' ';
	return gn_error_set(e, code, "%s: Arrow cannot read it (%s); %s", name, why.c_str(),
	                    code == -GN_ENOMEM    ? "write it in smaller row groups"
	                    : code == -GN_ENOTSUP ? "write it without what this Arrow does not know"
	                                          : "it is cut, damaged or of another kind: write it again");
}

/* Nothing that is thrown leaves this file. */
template <class F> int guarded(const char *name, gn_error *e, F step)
{
	try {
		const Status status = step();

		return status.ok() ? 0 : fail(name, status, e);
	} catch (const std::bad_alloc &) {
		return fail(name, Status::OutOfMemory("out of memory"), e);
	} catch (const std::exception &x) {
		return fail(name, Status::Invalid(x.what()), e);
	}
}

Status open_parquet(gn_arrow &a, std::shared_ptr<arrow::io::RandomAccessFile> file)
{
	parquet::ReaderProperties properties;
	parquet::ArrowReaderProperties rows;
	parquet::arrow::FileReaderBuilder builder;

	properties.set_page_checksum_verification(true);
	rows.set_batch_size(BATCH);
	rows.set_pre_buffer(false); /* or all of the file would be in memory */
	ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties));
	ARROW_RETURN_NOT_OK(builder.properties(rows)->Build(&a.parquet));
	ARROW_ASSIGN_OR_RAISE(a.batches, a.parquet->GetRecordBatchReader());
	a.rows = static_cast<uint64_t>(a.parquet->parquet_reader()->metadata()->num_rows());
	return Status::OK();
}

Status open_arrow(gn_arrow &a, std::shared_ptr<arrow::io::RandomAccessFile> file)
{
	ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(std::move(file)));
	a.batches = std::make_shared<arrow_file>(std::move(reader));
	return Status::OK();
}

Status open(gn_arrow &a, int fd, int is_parquet)
{
	ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(dup(fd)));
	ARROW_RETURN_NOT_OK(is_parquet ? open_parquet(a, file) : open_arrow(a, file));
	for (const auto &field : a.batches->schema()->fields())
		a.columns.push_back(gn__arrow_column_of(*field));
	a.fields.resize(a.columns.size());
	a.row.field = a.fields.data();
	a.row.fields = static_cast<uint32_t>(a.columns.size());
	return Status::OK();
}

void take_names(gn_arrow &a)
{
	for (size_t k = 0; k < a.columns.size(); k++) {
		gn_field &f = a.fields[k];

		f.text = a.columns[k].name.data();
		f.length = a.columns[k].name.size();
		f.quoted = 1; /* so that empty text is the empty string */
		f.scale = a.columns[k].scale;
		if (a.columns[k].name.find('\0') != std::string::npos)
			a.row.fault = "the name of a column has a zero byte";
	}
	a.named = true;
}

/* The next batch that has rows; a.batch is NULL behind the last one. */
Status next_batch(gn_arrow &a)
{
	a.at = 0;
	do {
		gn_progress_step(a.progress, "reading", a.row.line, a.rows);
		ARROW_RETURN_NOT_OK(a.batches->ReadNext(&a.batch));
	} while (a.batch && !a.batch->num_rows());
	for (size_t k = 0; a.batch && k < a.columns.size(); k++) {
		gn_arrow_column &c = a.columns[k];

		c.values = a.batch->column(static_cast<int>(k));
		if (c.read_word)
			c.dictionary = static_cast<const arrow::DictionaryArray &>(*c.values).dictionary();
	}
	return Status::OK();
}

/* Text of a number may need memory. Returns false if there is none. */
bool take_row(gn_arrow &a)
try {
	for (size_t k = 0; k < a.columns.size(); k++) {
		gn_arrow_column &c = a.columns[k];

		a.fields[k].kind = GN_FIELD_MISSING;
		if (c.read && c.values->IsValid(a.at))
			c.read(c, *c.values, a.at, a.fields[k]);
	}
	a.row.line++;
	a.at++;
	return true;
} catch (const std::bad_alloc &) {
	return false;
}

} // namespace

/* ---- arrow.h ---- */

const char *gn_arrow_version(void)
{
	return arrow::GetBuildInfo().version_string.c_str();
}

int gn__arrow_open(gn_arrow **a, int fd, const char *name, int is_parquet, const gn_progress *progress,
                   gn_error *e)
{
	int rc;

	*a = new (std::nothrow) gn_arrow{name, progress};
	if (!*a)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", name);
	rc = guarded(name, e, [=] { return open(**a, fd, is_parquet); });
	if (rc) {
		gn__arrow_close(*a);
		*a = nullptr;
	}
	return rc;
}

int gn__arrow_next(gn_arrow *a, const gn_record **row, gn_error *e)
{
	int rc = 0;

	*row = &a->row;
	if (!a->named) {
		take_names(*a);
		return 1;
	}
	if (!a->batch || a->at == a->batch->num_rows())
		rc = guarded(a->name, e, [=] { return next_batch(*a); });
	if (rc || !a->batch)
		return rc;
	return take_row(*a) ? 1 : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", a->name);
}

int gn__arrow_column(const gn_arrow *a, uint32_t k, gn_column *c)
{
	c->type = a->columns[k].type;
	c->scale = a->columns[k].scale;
	return a->columns[k].read != nullptr;
}

const char *gn__arrow_type(const gn_arrow *a, uint32_t k)
{
	return a->columns[k].arrow_type.c_str();
}

void gn__arrow_close(gn_arrow *a)
{
	delete a;
}
