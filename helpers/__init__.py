"""Retrieval evaluation as a pipeline: one package per step, plain arrays between them.

    data        load_dataset: queries, corpus, and which passage is relevant to which query (qrels)
      ↓
    models      load_model: an embedding model, or precomputed vectors
      ↓
    embeddings  encode: texts to vectors, cached on disk
      ↓
    index       build_index and search: the k best passages of each query, by vectors or by words
      ↓
    metrics     evaluate: recall, MRR, nDCG and others, per query and on average
      ↓
    show        tables, plots, the report page

`systems.rank` runs the pipeline from data to ranking for any system, `significance` has confidence intervals and
paired tests, `provenance` records versions and digests, `distributed` encodes and searches on many machines, and
`report` does all of it from the command line.
"""
